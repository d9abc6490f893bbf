/** Answers with wrong quotation marks around strings, or with unescaped ones inside. */

import { FENCE, type CorpusCase } from "./corpus-case.ts";

export const QUOTES: readonly CorpusCase[] = [
  {
    id: "single-quotes-plain",
    family: "single-quotes",
    schema: "search",
    output: String.raw`{'success': true, 'report': 'The Atacama receives about 15 mm of rain a year.', 'metadata': {'sources_visited': ['https://www.britannica.com/place/Atacama-Desert'], 'search_queries_used': ['Atacama annual rainfall']}}`,
    expected: {
      success: true,
      report: "The Atacama receives about 15 mm of rain a year.",
      sources_visited: ["https://www.britannica.com/place/Atacama-Desert"],
      search_queries_used: ["Atacama annual rainfall"],
    },
  },
  {
    id: "single-quotes-escaped-and-double-inside",
    family: "single-quotes",
    schema: "search",
    output: String.raw`${FENCE}json
{
  'success': true,
  'report': 'Hamilton\'s "Ten-Dollar Founding Father" line opens the musical.\n\nIt premiered in 2015.',
  'metadata': { 'sources_visited': ['https://hamiltonmusical.com'], 'search_queries_used': ['Hamilton "opening line"'] }
}
${FENCE}`,
    expected: {
      success: true,
      report:
        'Hamilton\'s "Ten-Dollar Founding Father" line opens the musical.\n\nIt premiered in 2015.',
      sources_visited: ["https://hamiltonmusical.com"],
      search_queries_used: ['Hamilton "opening line"'],
    },
  },
  {
    id: "single-quotes-unescaped-apostrophes",
    family: "single-quotes",
    schema: "search",
    output: String.raw`{'success': true, 'report': 'It's the world's oldest national park: Yellowstone, founded in 1872.', 'metadata': {'sources_visited': ['https://www.nps.gov/yell'], 'search_queries_used': ['oldest national park']}}`,
    expected: {
      success: true,
      report: "It's the world's oldest national park: Yellowstone, founded in 1872.",
      sources_visited: ["https://www.nps.gov/yell"],
      search_queries_used: ["oldest national park"],
    },
  },
  {
    id: "single-quotes-values-only",
    family: "single-quotes",
    schema: "deep_search",
    output: String.raw`{"success": true, "verified": false, "report": 'Köln hat 1,09 Mio. Einwohner.', "metadata": {"sources_visited": ['https://www.stadt-koeln.de'], "search_queries_used": ['Einwohner Köln']}}`,
    expected: {
      success: true,
      verified: false,
      report: "Köln hat 1,09 Mio. Einwohner.",
      sources_visited: ["https://www.stadt-koeln.de"],
      search_queries_used: ["Einwohner Köln"],
    },
  },
  {
    id: "smart-quotes-all",
    family: "smart-quotes",
    schema: "search",
    output: String.raw`{“success”: true, “report”: “The Inca road system was about 40,000 km long.”, “metadata”: {“sources_visited”: [“https://whc.unesco.org/en/list/1459”], “search_queries_used”: [“Inca road length”]}}`,
    expected: {
      success: true,
      report: "The Inca road system was about 40,000 km long.",
      sources_visited: ["https://whc.unesco.org/en/list/1459"],
      search_queries_used: ["Inca road length"],
    },
  },
  {
    id: "smart-quotes-fenced-with-apostrophes",
    family: "smart-quotes",
    schema: "deep_search",
    output: String.raw`${FENCE}json
{
  “success”: true,
  “verified”: true,
  “report”: “The UK’s largest lake is Lough Neagh (392 km²). It’s in Northern Ireland.”,
  “metadata”: { “sources_visited”: [“https://www.doeni.gov.uk”], “search_queries_used”: [“UK’s largest lake”] }
}
${FENCE}`,
    expected: {
      success: true,
      verified: true,
      report: "The UK’s largest lake is Lough Neagh (392 km²). It’s in Northern Ireland.",
      sources_visited: ["https://www.doeni.gov.uk"],
      search_queries_used: ["UK’s largest lake"],
    },
  },
  {
    id: "smart-quotes-mixed",
    family: "smart-quotes",
    schema: "search",
    output: String.raw`{"success": true, "report": “The Burj Khalifa is 828 m tall.”, "metadata": {"sources_visited": ["https://www.burjkhalifa.ae/en/"], "search_queries_used": [“Burj Khalifa height”]}}`,
    expected: {
      success: true,
      report: "The Burj Khalifa is 828 m tall.",
      sources_visited: ["https://www.burjkhalifa.ae/en/"],
      search_queries_used: ["Burj Khalifa height"],
    },
  },
  {
    id: "inner-quotes-words",
    family: "unescaped-quotes",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "The term "black swan" was made popular by Taleb; "fat tails" is the statistical counterpart.",
  "metadata": { "sources_visited": ["https://www.fooledbyrandomness.com"], "search_queries_used": ["black swan term origin"] }
}
${FENCE}`,
    expected: {
      success: true,
      report:
        'The term "black swan" was made popular by Taleb; "fat tails" is the statistical counterpart.',
      sources_visited: ["https://www.fooledbyrandomness.com"],
      search_queries_used: ["black swan term origin"],
    },
  },
  {
    id: "inner-quotes-german-low-high",
    family: "unescaped-quotes",
    schema: "search",
    output: String.raw`{"success": true, "report": "Die sogenannte „Zeitenwende" vom Februar 2022 brachte ein Sondervermögen von 100 Mrd. Euro; Kritiker sprechen von „Schattenhaushalten" und verlangen mehr Kontrolle.", "metadata": {"sources_visited": ["https://www.bundesregierung.de"], "search_queries_used": ["Zeitenwende Sondervermögen"]}}`,
    expected: {
      success: true,
      report:
        'Die sogenannte „Zeitenwende" vom Februar 2022 brachte ein Sondervermögen von 100 Mrd. Euro; Kritiker sprechen von „Schattenhaushalten" und verlangen mehr Kontrolle.',
      sources_visited: ["https://www.bundesregierung.de"],
      search_queries_used: ["Zeitenwende Sondervermögen"],
    },
    why: "German opens with „ and models close with a plain quotation mark.",
  },
  {
    id: "inner-quotes-before-comma",
    family: "unescaped-quotes",
    schema: "search",
    output: String.raw`{"success": true, "report": "The minister called it "a first step", while the opposition spoke of "window dressing".", "metadata": {"sources_visited": ["https://www.reuters.com/world/"], "search_queries_used": ["minister first step reaction"]}}`,
    expected: {
      success: true,
      report:
        'The minister called it "a first step", while the opposition spoke of "window dressing".',
      sources_visited: ["https://www.reuters.com/world/"],
      search_queries_used: ["minister first step reaction"],
    },
  },
  {
    id: "inner-quotes-at-both-ends",
    family: "unescaped-quotes",
    schema: "search",
    output: String.raw`{
  "success": true,
  "report": ""Veni, vidi, vici" is Caesar's report of the battle of Zela; Suetonius says it was shown on a placard reading "veni vidi vici"",
  "metadata": { "sources_visited": ["https://penelope.uchicago.edu/Thayer"], "search_queries_used": ["veni vidi vici source"] }
}`,
    expected: {
      success: true,
      report:
        '"Veni, vidi, vici" is Caesar\'s report of the battle of Zela; Suetonius says it was shown on a placard reading "veni vidi vici"',
      sources_visited: ["https://penelope.uchicago.edu/Thayer"],
      search_queries_used: ["veni vidi vici source"],
    },
  },
  {
    id: "inner-quotes-html-and-inches",
    family: "unescaped-quotes",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "A 27" display is typical. Embed it with <img src="a.png" alt="screen"> as the guide says.",
  "metadata": { "sources_visited": ["https://developer.mozilla.org/docs/Web/HTML/Element/img"], "search_queries_used": ["img tag example"] }
}
${FENCE}`,
    expected: {
      success: true,
      report:
        'A 27" display is typical. Embed it with <img src="a.png" alt="screen"> as the guide says.',
      sources_visited: ["https://developer.mozilla.org/docs/Web/HTML/Element/img"],
      search_queries_used: ["img tag example"],
    },
  },
  {
    id: "inner-quotes-in-query",
    family: "unescaped-quotes",
    schema: "search",
    output: String.raw`{"success": true, "report": "The phrase first appears in print in 1905.", "metadata": {"sources_visited": ["https://www.oed.com"], "search_queries_used": [""the whole nine yards" origin", "site:oed.com "nine yards""]}}`,
    expected: {
      success: true,
      report: "The phrase first appears in print in 1905.",
      sources_visited: ["https://www.oed.com"],
      search_queries_used: ['"the whole nine yards" origin', 'site:oed.com "nine yards"'],
    },
  },
  {
    id: "inner-quotes-code-with-raw-lines",
    family: "unescaped-quotes",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "Greet with:

${FENCE}python
print("hello")
${FENCE}

and quit with exit().",
  "metadata": { "sources_visited": ["https://docs.python.org/3/"], "search_queries_used": ["python hello world"] }
}
${FENCE}`,
    expected: {
      success: true,
      report: 'Greet with:\n\n```python\nprint("hello")\n```\n\nand quit with exit().',
      sources_visited: ["https://docs.python.org/3/"],
      search_queries_used: ["python hello world"],
    },
  },
  {
    id: "key-opening-quote-missing",
    family: "missing-quotes",
    schema: "search",
    output: String.raw`{success": true, report": "Tungsten melts at 3,422 °C.", "metadata": {sources_visited": ["https://www.rsc.org/periodic-table/element/74/tungsten"], "search_queries_used": ["tungsten melting point"]}}`,
    expected: {
      success: true,
      report: "Tungsten melts at 3,422 °C.",
      sources_visited: ["https://www.rsc.org/periodic-table/element/74/tungsten"],
      search_queries_used: ["tungsten melting point"],
    },
  },
  {
    id: "key-closing-quote-missing",
    family: "missing-quotes",
    schema: "search",
    output: String.raw`{"success: true, "report": "Die Donau mündet ins Schwarze Meer.", "metadata: {"sources_visited": ["https://www.icpdr.org"], "search_queries_used": ["Donau Mündung"]}}`,
    expected: {
      success: true,
      report: "Die Donau mündet ins Schwarze Meer.",
      sources_visited: ["https://www.icpdr.org"],
      search_queries_used: ["Donau Mündung"],
    },
  },
  {
    id: "report-closing-quote-missing-one-line",
    family: "missing-quotes",
    schema: "search",
    output: String.raw`{"success": true, "report": "The Great Barrier Reef stretches for 2,300 km along Queensland., "metadata": {"sources_visited": ["https://www2.gbrmpa.gov.au"], "search_queries_used": ["reef length"]}}`,
    expected: {
      success: true,
      report: "The Great Barrier Reef stretches for 2,300 km along Queensland.",
      sources_visited: ["https://www2.gbrmpa.gov.au"],
      search_queries_used: ["reef length"],
    },
    why: "What follows the report is there, so nothing was cut.",
  },
  {
    id: "report-closing-quote-missing-pretty",
    family: "missing-quotes",
    schema: "deep_search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "verified": true,
  "report": "# Ergebnis\n\nDer Vertrag gilt bis 2032 und verlängert sich um je fünf Jahre.,
  "metadata": {
    "sources_visited": ["https://eur-lex.europa.eu"],
    "search_queries_used": ["Vertrag Laufzeit Verlängerung"]
  }
}
${FENCE}`,
    expected: {
      success: true,
      verified: true,
      report:
        "# Ergebnis\n\nDer Vertrag gilt bis 2032 und verlängert sich um je fünf Jahre.",
      sources_visited: ["https://eur-lex.europa.eu"],
      search_queries_used: ["Vertrag Laufzeit Verlängerung"],
    },
  },
  {
    id: "report-opening-quote-missing",
    family: "missing-quotes",
    schema: "search",
    output: String.raw`{"success": true, "report": Nauru is the smallest republic by area (21 km²).", "metadata": {"sources_visited": ["https://www.un.org/en/about-us/member-states"], "search_queries_used": ["smallest republic"]}}`,
    expected: {
      success: true,
      report: "Nauru is the smallest republic by area (21 km²).",
      sources_visited: ["https://www.un.org/en/about-us/member-states"],
      search_queries_used: ["smallest republic"],
    },
  },
];
