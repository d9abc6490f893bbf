/** Answers with missing or additional commas and colons. */

import { FENCE, type CorpusCase } from "./corpus-case.ts";

export const COMMAS: readonly CorpusCase[] = [
  {
    id: "commas-trailing-everywhere",
    family: "trailing-commas",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "Helium-3 costs several thousand dollars per litre.",
  "metadata": {
    "sources_visited": ["https://www.isotopes.gov/products/helium", ],
    "search_queries_used": ["helium-3 price",],
  },
}
${FENCE}`,
    expected: {
      success: true,
      report: "Helium-3 costs several thousand dollars per litre.",
      sources_visited: ["https://www.isotopes.gov/products/helium"],
      search_queries_used: ["helium-3 price"],
    },
  },
  {
    id: "commas-trailing-raw",
    family: "trailing-commas",
    schema: "deep_search",
    output: String.raw`{"success": true, "verified": true, "report": "Beide Quellen nennen 2.571 Wahlkreise, [a,] und {b,} sind nur Text.", "metadata": {"sources_visited": ["https://www.bundeswahlleiterin.de",], "search_queries_used": ["Zahl der Wahlkreise",],},}`,
    expected: {
      success: true,
      verified: true,
      report: "Beide Quellen nennen 2.571 Wahlkreise, [a,] und {b,} sind nur Text.",
      sources_visited: ["https://www.bundeswahlleiterin.de"],
      search_queries_used: ["Zahl der Wahlkreise"],
    },
  },
  {
    id: "commas-doubled-and-leading",
    family: "trailing-commas",
    schema: "search",
    output: String.raw`{"success": true,, "report": "The Webb telescope orbits the Sun–Earth L2 point.", "metadata": {"sources_visited": [, "https://science.nasa.gov/mission/webb/"], "search_queries_used": ["Webb orbit"]}}`,
    expected: {
      success: true,
      report: "The Webb telescope orbits the Sun–Earth L2 point.",
      sources_visited: ["https://science.nasa.gov/mission/webb/"],
      search_queries_used: ["Webb orbit"],
    },
  },
  {
    id: "commas-missing-between-properties",
    family: "missing-commas",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true
  "report": "The yen traded at 154 per dollar on 12 November.\n\nThe Bank of Japan left rates unchanged."
  "metadata": {
    "sources_visited": ["https://www.boj.or.jp/en/"]
    "search_queries_used": ["yen dollar rate"]
  }
}
${FENCE}`,
    expected: {
      success: true,
      report:
        "The yen traded at 154 per dollar on 12 November.\n\nThe Bank of Japan left rates unchanged.",
      sources_visited: ["https://www.boj.or.jp/en/"],
      search_queries_used: ["yen dollar rate"],
    },
  },
  {
    id: "commas-missing-between-elements",
    family: "missing-commas",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "Die Ostsee ist im Mittel 52 m tief.",
  "metadata": {
    "sources_visited": [
      "https://www.io-warnemuende.de"
      "https://helcom.fi/baltic-sea-trends/"
    ],
    "search_queries_used": ["mittlere Tiefe Ostsee" "Baltic Sea mean depth"]
  }
}
${FENCE}`,
    expected: {
      success: true,
      report: "Die Ostsee ist im Mittel 52 m tief.",
      sources_visited: ["https://www.io-warnemuende.de", "https://helcom.fi/baltic-sea-trends/"],
      search_queries_used: ["mittlere Tiefe Ostsee", "Baltic Sea mean depth"],
    },
  },
  {
    id: "commas-missing-on-one-line",
    family: "missing-commas",
    schema: "deep_search",
    output: String.raw`{"success": true "verified": false "report": "Sharks predate trees by about 50 million years." "metadata": {"sources_visited": ["https://www.nhm.ac.uk/discover/shark-evolution.html"] "search_queries_used": ["sharks older than trees"]}}`,
    expected: {
      success: true,
      verified: false,
      report: "Sharks predate trees by about 50 million years.",
      sources_visited: ["https://www.nhm.ac.uk/discover/shark-evolution.html"],
      search_queries_used: ["sharks older than trees"],
    },
  },
  {
    id: "colon-missing",
    family: "missing-commas",
    schema: "search",
    output: String.raw`{"success" true, "report": "Oslo's airport is Gardermoen (OSL).", "metadata": {"sources_visited" ["https://avinor.no/en/airport/oslo-airport/"], "search_queries_used": ["Oslo main airport"]}}`,
    expected: {
      success: true,
      report: "Oslo's airport is Gardermoen (OSL).",
      sources_visited: ["https://avinor.no/en/airport/oslo-airport/"],
      search_queries_used: ["Oslo main airport"],
    },
  },
];
