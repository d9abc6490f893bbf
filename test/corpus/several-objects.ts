/** Outputs with more than one object, of which one is the answer. */

import { FENCE, type CorpusCase } from "./corpus-case.ts";

export const SEVERAL_OBJECTS: readonly CorpusCase[] = [
  {
    id: "two-draft-then-final",
    family: "two-objects",
    schema: "search",
    output: String.raw`${FENCE}json
{"success": true, "report": "First draft: the bridge is 1.9 km long.", "metadata": {"sources_visited": [], "search_queries_used": ["bridge length"]}}
${FENCE}

Wait, I should check that against the operator's page.

${FENCE}json
{"success": true, "report": "The bridge is 1,991 m long (main span).", "metadata": {"sources_visited": ["https://www.jb-honshi.co.jp"], "search_queries_used": ["bridge length", "Akashi Kaikyo main span"]}}
${FENCE}`,
    expected: {
      success: true,
      report: "The bridge is 1,991 m long (main span).",
      sources_visited: ["https://www.jb-honshi.co.jp"],
      search_queries_used: ["bridge length", "Akashi Kaikyo main span"],
    },
  },
  {
    id: "two-raw-draft-then-final",
    family: "two-objects",
    schema: "deep_search",
    output: String.raw`{"success": true, "verified": false, "report": "Entwurf: etwa 80 %.", "metadata": {"sources_visited": [], "search_queries_used": []}}
Überarbeitet:
{"success": true, "verified": true, "report": "78,3 % laut Destatis (2024).", "metadata": {"sources_visited": ["https://www.destatis.de"], "search_queries_used": ["Anteil 2024 Destatis"]}}`,
    expected: {
      success: true,
      verified: true,
      report: "78,3 % laut Destatis (2024).",
      sources_visited: ["https://www.destatis.de"],
      search_queries_used: ["Anteil 2024 Destatis"],
    },
  },
  {
    id: "two-refusal-then-answer",
    family: "two-objects",
    schema: "search",
    output: String.raw`${FENCE}json
{"success": false, "error": "The first search returned nothing."}
${FENCE}
A second search with other words worked:
${FENCE}json
{"success": true, "report": "The library opened in 1911.", "metadata": {"sources_visited": ["https://www.nypl.org"], "search_queries_used": ["library opening year", "NYPL main branch 1911"]}}
${FENCE}`,
    expected: {
      success: true,
      report: "The library opened in 1911.",
      sources_visited: ["https://www.nypl.org"],
      search_queries_used: ["library opening year", "NYPL main branch 1911"],
    },
  },
  {
    id: "two-echoed-example-then-answer",
    family: "two-objects",
    schema: "search",
    output: String.raw`You asked for this form:

${FENCE}json
{
  "success": true,
  "report": "<your whole report in Markdown>",
  "metadata": {
    "sources_visited": ["<address of a page you used>", "<address of another page>"],
    "search_queries_used": ["<search query you used>", "<another search query>"]
  }
}
${FENCE}

My answer:

${FENCE}json
{
  "success": true,
  "report": "La Sagrada Família atteindra 172,5 m.",
  "metadata": { "sources_visited": ["https://sagradafamilia.org"], "search_queries_used": ["hauteur Sagrada Família"] }
}
${FENCE}`,
    expected: {
      success: true,
      report: "La Sagrada Família atteindra 172,5 m.",
      sources_visited: ["https://sagradafamilia.org"],
      search_queries_used: ["hauteur Sagrada Família"],
    },
  },
  {
    id: "two-answer-then-echoed-example",
    family: "two-objects",
    schema: "search",
    output: String.raw`{"success": true, "report": "The Kiel Canal is 98.6 km long.", "metadata": {"sources_visited": ["https://www.wsa-nord-ostsee-kanal.wsv.de"], "search_queries_used": ["Kiel canal length"]}}

This follows the requested form:
{"success": true, "report": "<your whole report in Markdown>", "metadata": {"sources_visited": ["<address of a page you used>"], "search_queries_used": ["<search query you used>"]}}`,
    expected: {
      success: true,
      report: "The Kiel Canal is 98.6 km long.",
      sources_visited: ["https://www.wsa-nord-ostsee-kanal.wsv.de"],
      search_queries_used: ["Kiel canal length"],
    },
  },
  {
    id: "two-echoed-example-then-broken-answer",
    family: "two-objects",
    schema: "deep_search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "verified": false,
  "report": "<your whole report in Markdown>",
  "metadata": { "sources_visited": ["<address of a page you used>"], "search_queries_used": ["<search query you used>"] }
}
${FENCE}
${FENCE}json
{
  "success": true,
  "verified": true,
  "report": "Der Eiffelturm wurde 1889 eröffnet.",
  "metadata": { "sources_visited": ["https://www.toureiffel.paris",], "search_queries_used": ["Eiffelturm Eröffnung",], },
}
${FENCE}`,
    expected: {
      success: true,
      verified: true,
      report: "Der Eiffelturm wurde 1889 eröffnet.",
      sources_visited: ["https://www.toureiffel.paris"],
      search_queries_used: ["Eiffelturm Eröffnung"],
    },
  },
  {
    id: "two-answer-then-status",
    family: "two-objects",
    schema: "search",
    output: String.raw`${FENCE}json
{"success": true, "report": "Titan's atmosphere is 95 % nitrogen.", "metadata": {"sources_visited": ["https://science.nasa.gov/saturn/moons/titan/"], "search_queries_used": ["Titan atmosphere"]}}
${FENCE}
${FENCE}json
{"status": "done", "tokens": 412}
${FENCE}`,
    expected: {
      success: true,
      report: "Titan's atmosphere is 95 % nitrogen.",
      sources_visited: ["https://science.nasa.gov/saturn/moons/titan/"],
      search_queries_used: ["Titan atmosphere"],
    },
  },
  {
    id: "two-printed-twice",
    family: "repeated",
    schema: "search",
    output: String.raw`{"success": true, "report": "Ein Lichtjahr sind 9,46 Billionen km.", "metadata": {"sources_visited": ["https://www.iau.org"], "search_queries_used": ["Lichtjahr km"]}}{"success": true, "report": "Ein Lichtjahr sind 9,46 Billionen km.", "metadata": {"sources_visited": ["https://www.iau.org"], "search_queries_used": ["Lichtjahr km"]}}`,
    expected: {
      success: true,
      report: "Ein Lichtjahr sind 9,46 Billionen km.",
      sources_visited: ["https://www.iau.org"],
      search_queries_used: ["Lichtjahr km"],
    },
  },
  {
    id: "two-raw-and-fenced-copy",
    family: "repeated",
    schema: "deep_search",
    output: String.raw`{"success": true, "verified": false, "report": "Sloths need about a month to digest a meal.", "metadata": {"sources_visited": ["https://slothconservation.org"], "search_queries_used": ["sloth digestion"]}}

${FENCE}json
{
  "success": true,
  "verified": false,
  "report": "Sloths need about a month to digest a meal.",
  "metadata": { "sources_visited": ["https://slothconservation.org"], "search_queries_used": ["sloth digestion"] }
}
${FENCE}`,
    expected: {
      success: true,
      verified: false,
      report: "Sloths need about a month to digest a meal.",
      sources_visited: ["https://slothconservation.org"],
      search_queries_used: ["sloth digestion"],
    },
  },
  {
    id: "two-second-copy-cut",
    family: "repeated",
    schema: "search",
    output: String.raw`{"success": true, "report": "The Dead Sea surface lies 438 m below sea level.", "metadata": {"sources_visited": ["https://isramar.ocean.org.il"], "search_queries_used": ["Dead Sea level"]}}
{"success": true, "report": "The Dead Sea surface li`,
    expected: {
      success: true,
      report: "The Dead Sea surface lies 438 m below sea level.",
      sources_visited: ["https://isramar.ocean.org.il"],
      search_queries_used: ["Dead Sea level"],
    },
    why: "The answer is there whole; the stream began to repeat it.",
  },
  {
    id: "two-restarted-in-new-fence",
    family: "repeated",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "Kyoto was the capital of Japan from 794 to 18
${FENCE}json
{
  "success": true,
  "report": "Kyoto was the capital of Japan from 794 to 1868.",
  "metadata": { "sources_visited": ["https://www.city.kyoto.lg.jp"], "search_queries_used": ["Kyoto capital years"] }
}
${FENCE}`,
    expected: {
      success: true,
      report: "Kyoto was the capital of Japan from 794 to 1868.",
      sources_visited: ["https://www.city.kyoto.lg.jp"],
      search_queries_used: ["Kyoto capital years"],
    },
    why: "The call was retried in the middle of the stream; the second attempt is whole.",
  },
  {
    id: "lines-progress-then-answer",
    family: "json-lines",
    schema: "search",
    output: String.raw`{"type": "progress", "step": 1, "message": "searching"}
{"type": "tool", "name": "google_web_search", "query": "Antarctic ice volume"}
{"success": true, "report": "Antarctica holds about 26.5 million km³ of ice.", "metadata": {"sources_visited": ["https://www.bas.ac.uk/project/bedmap-2/"], "search_queries_used": ["Antarctic ice volume"]}}
{"type": "done"}`,
    expected: {
      success: true,
      report: "Antarctica holds about 26.5 million km³ of ice.",
      sources_visited: ["https://www.bas.ac.uk/project/bedmap-2/"],
      search_queries_used: ["Antarctic ice volume"],
    },
  },
  {
    id: "lines-text-between-objects",
    family: "json-lines",
    schema: "deep_search",
    output: String.raw`{"round": 2}
checking claim 1 ... ok
{"claim": 1, "ok": true}
checking claim 2 ... ok }
{"success": true, "verified": true, "report": "Beide Angaben stimmen.\n\n1. 1989 ✔\n2. 1990 ✔", "metadata": {"sources_visited": ["https://www.bpb.de"], "search_queries_used": ["Mauerfall Datum", "Einheit Datum"]}}
bye`,
    expected: {
      success: true,
      verified: true,
      report: "Beide Angaben stimmen.\n\n1. 1989 ✔\n2. 1990 ✔",
      sources_visited: ["https://www.bpb.de"],
      search_queries_used: ["Mauerfall Datum", "Einheit Datum"],
    },
  },
];
