/** Answers with valid JSON in different surroundings; none of them needs a repair. */

import { BACKTICK, FENCE, type CorpusCase } from "./corpus-case.ts";

export const CLEAN_ANSWERS: readonly CorpusCase[] = [
  {
    id: "clean-fenced",
    family: "clean",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "# Node.js 24\n\nNode.js 24 entered long-term support on **28 October 2025** ([release schedule](https://github.com/nodejs/release)). Support ends in April 2028.",
  "metadata": {
    "sources_visited": ["https://github.com/nodejs/release", "https://nodejs.org/en/about/previous-releases"],
    "search_queries_used": ["node 24 lts date", "node release schedule"]
  }
}
${FENCE}`,
    expected: {
      success: true,
      report:
        "# Node.js 24\n\nNode.js 24 entered long-term support on **28 October 2025** ([release schedule](https://github.com/nodejs/release)). Support ends in April 2028.",
      sources_visited: [
        "https://github.com/nodejs/release",
        "https://nodejs.org/en/about/previous-releases",
      ],
      search_queries_used: ["node 24 lts date", "node release schedule"],
    },
  },
  {
    id: "clean-raw-pretty",
    family: "clean",
    schema: "search",
    output: String.raw`{
  "success": true,
  "report": "Die Wärmepumpe erreicht laut Fraunhofer ISE eine mittlere Jahresarbeitszahl von 3,1 in Bestandsgebäuden.\n\n- Luft/Wasser: 3,1\n- Sole/Wasser: 4,1",
  "metadata": {
    "sources_visited": ["https://www.ise.fraunhofer.de/de/presse/waermepumpen.html"],
    "search_queries_used": ["Jahresarbeitszahl Wärmepumpe Bestand Fraunhofer"]
  }
}`,
    expected: {
      success: true,
      report:
        "Die Wärmepumpe erreicht laut Fraunhofer ISE eine mittlere Jahresarbeitszahl von 3,1 in Bestandsgebäuden.\n\n- Luft/Wasser: 3,1\n- Sole/Wasser: 4,1",
      sources_visited: ["https://www.ise.fraunhofer.de/de/presse/waermepumpen.html"],
      search_queries_used: ["Jahresarbeitszahl Wärmepumpe Bestand Fraunhofer"],
    },
  },
  {
    id: "clean-raw-one-line",
    family: "clean",
    schema: "deep_search",
    output: String.raw`{"success":true,"verified":true,"report":"東京の人口は約1,417万人です（2024年）。🗼\n\n出典: 東京都総務局統計部。","metadata":{"sources_visited":["https://www.toukei.metro.tokyo.lg.jp/jsuikei/js-index.htm"],"search_queries_used":["東京 人口 2024"]}}`,
    expected: {
      success: true,
      verified: true,
      report: "東京の人口は約1,417万人です（2024年）。🗼\n\n出典: 東京都総務局統計部。",
      sources_visited: ["https://www.toukei.metro.tokyo.lg.jp/jsuikei/js-index.htm"],
      search_queries_used: ["東京 人口 2024"],
    },
  },
  {
    id: "clean-label-capitals",
    family: "clean",
    schema: "search",
    output: String.raw`${FENCE}JSON
{"success": true, "report": "The speed of light in vacuum is exactly 299,792,458 m/s by definition since 1983.", "metadata": {"sources_visited": ["https://www.bipm.org/en/si-base-units/metre"], "search_queries_used": ["speed of light exact value"]}}
${FENCE}
`,
    expected: {
      success: true,
      report: "The speed of light in vacuum is exactly 299,792,458 m/s by definition since 1983.",
      sources_visited: ["https://www.bipm.org/en/si-base-units/metre"],
      search_queries_used: ["speed of light exact value"],
    },
  },
  {
    id: "clean-no-label",
    family: "clean",
    schema: "search",
    output: String.raw`${FENCE}
{
  "success": true,
  "report": "La tour Eiffel mesure 330 m depuis mars 2022 (antenne comprise).",
  "metadata": { "sources_visited": ["https://www.toureiffel.paris/fr"], "search_queries_used": ["hauteur tour Eiffel"] }
}
${FENCE}`,
    expected: {
      success: true,
      report: "La tour Eiffel mesure 330 m depuis mars 2022 (antenne comprise).",
      sources_visited: ["https://www.toureiffel.paris/fr"],
      search_queries_used: ["hauteur tour Eiffel"],
    },
  },
  {
    id: "clean-tilde-fence",
    family: "clean",
    schema: "search",
    output: String.raw`~~~json
{
  "success": true,
  "report": "PostgreSQL 18 was released on 2025-09-25. It adds asynchronous I/O and \"virtual generated columns\" by default.",
  "metadata": { "sources_visited": ["https://www.postgresql.org/about/news/postgresql-18-released-3142/"], "search_queries_used": ["postgresql 18 release date"] }
}
~~~`,
    expected: {
      success: true,
      report:
        'PostgreSQL 18 was released on 2025-09-25. It adds asynchronous I/O and "virtual generated columns" by default.',
      sources_visited: ["https://www.postgresql.org/about/news/postgresql-18-released-3142/"],
      search_queries_used: ["postgresql 18 release date"],
    },
  },
  {
    id: "clean-prose-around",
    family: "clean",
    schema: "search",
    output: String.raw`I searched the web for your question and opened two pages. Here is the result in the form you asked for:

${FENCE}json
{
  "success": true,
  "report": "| City | Metro lines |\n|---|---|\n| Madrid | 13 |\n| Barcelona | 12 |\n\nBoth figures are from the operators.",
  "metadata": {
    "sources_visited": ["https://www.metromadrid.es/en", "https://www.tmb.cat/en"],
    "search_queries_used": ["Madrid metro number of lines", "Barcelona metro number of lines"]
  }
}
${FENCE}

Let me know if you would like a comparison with Valencia!`,
    expected: {
      success: true,
      report:
        "| City | Metro lines |\n|---|---|\n| Madrid | 13 |\n| Barcelona | 12 |\n\nBoth figures are from the operators.",
      sources_visited: ["https://www.metromadrid.es/en", "https://www.tmb.cat/en"],
      search_queries_used: ["Madrid metro number of lines", "Barcelona metro number of lines"],
    },
  },
  {
    id: "clean-raw-prose-around",
    family: "clean",
    schema: "deep_search",
    output: String.raw`After five searches I have a first result.

{"success": true, "verified": false, "report": "Estimates of deaths in the 1918 influenza range from 17 to 50 million; the upper figure of 100 million is disputed.", "metadata": {"sources_visited": ["https://www.cdc.gov/flu/pandemic-resources/1918-pandemic-h1n1.html"], "search_queries_used": ["1918 influenza deaths estimate", "Spanish flu mortality dispute"]}}

The next round should check the lower bound.`,
    expected: {
      success: true,
      verified: false,
      report:
        "Estimates of deaths in the 1918 influenza range from 17 to 50 million; the upper figure of 100 million is disputed.",
      sources_visited: ["https://www.cdc.gov/flu/pandemic-resources/1918-pandemic-h1n1.html"],
      search_queries_used: ["1918 influenza deaths estimate", "Spanish flu mortality dispute"],
    },
  },
  {
    id: "clean-fence-never-closed",
    family: "clean",
    schema: "search",
    output: String.raw`${FENCE}json
{"success": true, "report": "Vienna tops the 2024 EIU liveability index for the third year running.", "metadata": {"sources_visited": ["https://www.eiu.com/n/campaigns/global-liveability-index-2024/"], "search_queries_used": ["EIU liveability 2024 ranking"]}}`,
    expected: {
      success: true,
      report: "Vienna tops the 2024 EIU liveability index for the third year running.",
      sources_visited: ["https://www.eiu.com/n/campaigns/global-liveability-index-2024/"],
      search_queries_used: ["EIU liveability 2024 ranking"],
    },
  },
  {
    id: "clean-fence-on-one-line",
    family: "clean",
    schema: "search",
    output: String.raw`${FENCE}json {"success": true, "report": "The Channel Tunnel is 50.46 km long, 37.9 km of it under the sea.", "metadata": {"sources_visited": ["https://www.getlinkgroup.com"], "search_queries_used": ["channel tunnel length undersea"]}} ${FENCE}`,
    expected: {
      success: true,
      report: "The Channel Tunnel is 50.46 km long, 37.9 km of it under the sea.",
      sources_visited: ["https://www.getlinkgroup.com"],
      search_queries_used: ["channel tunnel length undersea"],
    },
  },
  {
    id: "clean-fence-with-info-string",
    family: "clean",
    schema: "search",
    output: String.raw`${FENCE}json title="answer.json"
{
  "success": true,
  "report": "RFC 9110 defines HTTP semantics; it obsoletes RFC 7231.",
  "metadata": { "sources_visited": ["https://www.rfc-editor.org/rfc/rfc9110"], "search_queries_used": ["rfc 9110 obsoletes"] }
}
${FENCE}`,
    expected: {
      success: true,
      report: "RFC 9110 defines HTTP semantics; it obsoletes RFC 7231.",
      sources_visited: ["https://www.rfc-editor.org/rfc/rfc9110"],
      search_queries_used: ["rfc 9110 obsoletes"],
    },
  },
  {
    id: "clean-fence-indented-in-list",
    family: "clean",
    schema: "search",
    output: String.raw`1. Searched three times.
2. Result:

   ${FENCE}json
   {
     "success": true,
     "report": "Iceland's parliament, the Alþingi, was founded in 930.",
     "metadata": { "sources_visited": ["https://www.althingi.is/english"], "search_queries_used": ["Althing founded year"] }
   }
   ${FENCE}
`,
    expected: {
      success: true,
      report: "Iceland's parliament, the Alþingi, was founded in 930.",
      sources_visited: ["https://www.althingi.is/english"],
      search_queries_used: ["Althing founded year"],
    },
  },
  {
    id: "clean-cli-noise-before",
    family: "clean",
    schema: "search",
    output: String.raw`Loaded cached credentials.
Attempt 1 failed with status 503. Retrying with backoff...
[INFO] Using tool google_web_search {"query":"Kepler-452b distance"}
${FENCE}json
{
  "success": true,
  "report": "Kepler-452b lies about 1,800 light years away (Gaia DR2).",
  "metadata": { "sources_visited": ["https://exoplanets.nasa.gov/exoplanet-catalog/4786/kepler-452-b/"], "search_queries_used": ["Kepler-452b distance"] }
}
${FENCE}`,
    expected: {
      success: true,
      report: "Kepler-452b lies about 1,800 light years away (Gaia DR2).",
      sources_visited: ["https://exoplanets.nasa.gov/exoplanet-catalog/4786/kepler-452-b/"],
      search_queries_used: ["Kepler-452b distance"],
    },
  },
  {
    id: "clean-looks-broken-inside",
    family: "clean",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "“Smart quotes”, {braces}, [brackets], // slashes, /* stars */, trailing commas ,] ,} and the words True, None and NaN are all ordinary text here.\n\n„Deutsche“ and «françaises» too. Escapes such as \\n, \\d+ and \\\" stay as written. Tom &amp; Jerry &quot;quoted&quot; &lt;b&gt;.",
  "metadata": { "sources_visited": ["https://json.example/?a={b}&c=[d]//e"], "search_queries_used": ["\"exact phrase\" OR 'other'"] }
}
${FENCE}`,
    expected: {
      success: true,
      report:
        '“Smart quotes”, {braces}, [brackets], // slashes, /* stars */, trailing commas ,] ,} and the words True, None and NaN are all ordinary text here.\n\n„Deutsche“ and «françaises» too. Escapes such as \\n, \\d+ and \\" stay as written. Tom &amp; Jerry &quot;quoted&quot; &lt;b&gt;.',
      sources_visited: ["https://json.example/?a={b}&c=[d]//e"],
      search_queries_used: ["\"exact phrase\" OR 'other'"],
    },
    why: "The JSON is sound, so every repair rule must keep its hands off the report.",
  },
  {
    id: "clean-inline-code",
    family: "clean",
    schema: "search",
    output: String.raw`The answer: ${BACKTICK}{"success": true, "report": "Mount Logan is 5,959 m high.", "metadata": {"sources_visited": ["https://parks.canada.ca/pn-np/yt/kluane"], "search_queries_used": ["Mount Logan height"]}}${BACKTICK}`,
    expected: {
      success: true,
      report: "Mount Logan is 5,959 m high.",
      sources_visited: ["https://parks.canada.ca/pn-np/yt/kluane"],
      search_queries_used: ["Mount Logan height"],
    },
  },
];
