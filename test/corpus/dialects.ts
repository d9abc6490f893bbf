/** Answers in a similar notation: JavaScript, JSON5, Python, or JSON with comments. */

import { FENCE, type CorpusCase } from "./corpus-case.ts";

export const DIALECTS: readonly CorpusCase[] = [
  {
    id: "comments-line",
    family: "comments",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true, // research worked
  // the report follows
  "report": "See https://www.swissgrid.ch//en for the grid frequency: 50 Hz.",
  "metadata": {
    "sources_visited": [
      "https://www.swissgrid.ch//en" // opened
    ],
    "search_queries_used": ["grid frequency"] // the only one
  }
}
${FENCE}`,
    expected: {
      success: true,
      report: "See https://www.swissgrid.ch//en for the grid frequency: 50 Hz.",
      sources_visited: ["https://www.swissgrid.ch//en"],
      search_queries_used: ["grid frequency"],
    },
  },
  {
    id: "comments-block",
    family: "comments",
    schema: "search",
    output: String.raw`/* The research answer, {in the form} that was "asked for" */
{
  "success": true,
  /* "quoted" and {braced} remarks */
  "report": "Der Wert liegt bei 3 /* nicht 4 */ Prozent.",
  "metadata": { "sources_visited": [/* none opened */], "search_queries_used": ["Inflationsrate"] }
}`,
    expected: {
      success: true,
      report: "Der Wert liegt bei 3 /* nicht 4 */ Prozent.",
      sources_visited: [],
      search_queries_used: ["Inflationsrate"],
    },
  },
  {
    id: "comments-with-quotes-and-braces",
    family: "comments",
    schema: "deep_search",
    output: String.raw`${FENCE}jsonc
{
  "success": true,
  "verified": true, // it's "confident enough" }
  "report": "Estonia joined Schengen on 21 December 2007.",
  "metadata": {
    "sources_visited": ["https://home-affairs.ec.europa.eu/policies/schengen_en"], // don't trust [mirrors]
    "search_queries_used": ["Estonia Schengen date"]
  }
}
${FENCE}`,
    expected: {
      success: true,
      verified: true,
      report: "Estonia joined Schengen on 21 December 2007.",
      sources_visited: ["https://home-affairs.ec.europa.eu/policies/schengen_en"],
      search_queries_used: ["Estonia Schengen date"],
    },
  },
  {
    id: "comments-hash",
    family: "comments",
    schema: "search",
    output: String.raw`{
  "success": true,  # yes
  "report": "# Heading\n\n#1 in the chart is \"Blinding Lights\".",  # Markdown
  "metadata": { "sources_visited": ["https://www.billboard.com/charts/#top"], "search_queries_used": ["#1 song of all time"] }
}`,
    expected: {
      success: true,
      report: '# Heading\n\n#1 in the chart is "Blinding Lights".',
      sources_visited: ["https://www.billboard.com/charts/#top"],
      search_queries_used: ["#1 song of all time"],
    },
  },
  {
    id: "python-literals",
    family: "python",
    schema: "deep_search",
    output: String.raw`{"success": True, "verified": False, "report": "True crime podcasts reach None of the top three slots.", "metadata": {"sources_visited": ["https://podcastcharts.byspotify.com"], "search_queries_used": ["top podcasts"]}, "error": None}`,
    expected: {
      success: true,
      verified: false,
      report: "True crime podcasts reach None of the top three slots.",
      sources_visited: ["https://podcastcharts.byspotify.com"],
      search_queries_used: ["top podcasts"],
    },
  },
  {
    id: "python-dictionary",
    family: "python",
    schema: "search",
    output: String.raw`${FENCE}python
{'success': True, 'report': "Ireland's GDP grew 1.2 % in 2024.\n\nThe CSO's \"modified domestic demand\" grew 1.8 %.", 'metadata': {'sources_visited': ['https://www.cso.ie/en/'], 'search_queries_used': ["Ireland's GDP 2024"]}}
${FENCE}`,
    expected: {
      success: true,
      report:
        'Ireland\'s GDP grew 1.2 % in 2024.\n\nThe CSO\'s "modified domestic demand" grew 1.8 %.',
      sources_visited: ["https://www.cso.ie/en/"],
      search_queries_used: ["Ireland's GDP 2024"],
    },
    why: "What Python prints: single quotes unless the text has an apostrophe.",
  },
  {
    id: "python-none-lists",
    family: "python",
    schema: "search",
    output: String.raw`{"success": True, "report": "Die Temperatur im Erdkern wird auf 5.200 °C geschätzt.", "metadata": {"sources_visited": None, "search_queries_used": None}}`,
    expected: {
      success: true,
      report: "Die Temperatur im Erdkern wird auf 5.200 °C geschätzt.",
      sources_visited: [],
      search_queries_used: [],
    },
  },
  {
    id: "unquoted-keys",
    family: "unquoted-keys",
    schema: "search",
    output: String.raw`{success: true, report: "Saturn's rings are about 10 m thick in most places.", metadata: {sources_visited: ["https://science.nasa.gov/saturn/"], search_queries_used: ["thickness of Saturn's rings"]}}`,
    expected: {
      success: true,
      report: "Saturn's rings are about 10 m thick in most places.",
      sources_visited: ["https://science.nasa.gov/saturn/"],
      search_queries_used: ["thickness of Saturn's rings"],
    },
  },
  {
    id: "unquoted-addresses",
    family: "unquoted-keys",
    schema: "search",
    output: String.raw`{
  "success": true,
  "report": "The tallest dam is Jinping-I at 305 m.",
  "metadata": {
    "sources_visited": [https://www.icold-cigb.org/, https://www.britannica.com/topic/Jinping-I-Dam],
    "search_queries_used": ["tallest dam"]
  }
}`,
    expected: {
      success: true,
      report: "The tallest dam is Jinping-I at 305 m.",
      sources_visited: [
        "https://www.icold-cigb.org/",
        "https://www.britannica.com/topic/Jinping-I-Dam",
      ],
      search_queries_used: ["tallest dam"],
    },
  },
  {
    id: "json5-document",
    family: "json5",
    schema: "deep_search",
    output: String.raw`${FENCE}json5
// round 2
{
  success: true,
  verified: true,
  report: 'Light takes 8 min 20 s from the Sun.\n\nAt perihelion a little less.',
  metadata: {
    sources_visited: ['https://www.iau.org/public/themes/measuring/',],
    search_queries_used: ["light travel time sun",],
    confidence: .98,
    delta: +3,
  },
}
${FENCE}`,
    expected: {
      success: true,
      verified: true,
      report: "Light takes 8 min 20 s from the Sun.\n\nAt perihelion a little less.",
      sources_visited: ["https://www.iau.org/public/themes/measuring/"],
      search_queries_used: ["light travel time sun"],
    },
  },
  {
    id: "javascript-constant",
    family: "json5",
    schema: "search",
    output: String.raw`${FENCE}javascript
const answer = {
  success: true,
  report: "Copenhagen has about 385 km of cycle tracks.",
  metadata: {
    sources_visited: ["https://www.kk.dk"],
    search_queries_used: ["Copenhagen cycle tracks km"],
  },
};
${FENCE}`,
    expected: {
      success: true,
      report: "Copenhagen has about 385 km of cycle tracks.",
      sources_visited: ["https://www.kk.dk"],
      search_queries_used: ["Copenhagen cycle tracks km"],
    },
  },
  {
    id: "numbers-not-a-number",
    family: "numbers",
    schema: "search",
    output: String.raw`{"success": true, "report": "Keine belastbare Zahl gefunden; Schätzungen reichen von 2 bis 9 Mio.", "metadata": {"confidence": NaN, "score": Infinity, "previous": undefined, "sources_visited": ["https://www.destatis.de"], "search_queries_used": ["Schätzung Anzahl"]}}`,
    expected: {
      success: true,
      report: "Keine belastbare Zahl gefunden; Schätzungen reichen von 2 bis 9 Mio.",
      sources_visited: ["https://www.destatis.de"],
      search_queries_used: ["Schätzung Anzahl"],
    },
  },
  {
    id: "numbers-odd-spellings",
    family: "numbers",
    schema: "search",
    output: String.raw`{"success": true, "report": "Seven sources agree.", "metadata": {"rank": 007, "share": 50%, "sources_visited": ["https://a.example/7"], "search_queries_used": ["seven"], "tokens": 1_200}}`,
    expected: {
      success: true,
      report: "Seven sources agree.",
      sources_visited: ["https://a.example/7"],
      search_queries_used: ["seven"],
    },
  },
  {
    id: "ellipsis-in-list",
    family: "ellipsis",
    schema: "search",
    output: String.raw`{"success": true, "report": "Over thirty reviews agree on the main effect... and differ on its size.", "metadata": {"sources_visited": ["https://www.cochranelibrary.com", ...], "search_queries_used": ["systematic review effect size", ...]}}`,
    expected: {
      success: true,
      report: "Over thirty reviews agree on the main effect... and differ on its size.",
      sources_visited: ["https://www.cochranelibrary.com"],
      search_queries_used: ["systematic review effect size"],
    },
  },
];
