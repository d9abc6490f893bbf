/** Answers inside another object, a string, a list, markup, or a chain of thought. */

import { FENCE, type CorpusCase } from "./corpus-case.ts";

export const ENVELOPES: readonly CorpusCase[] = [
  {
    id: "wrapped-response",
    family: "wrapped",
    schema: "search",
    output: String.raw`{"response": {"success": true, "report": "The Nile is 6,650 km long by the usual count.", "metadata": {"sources_visited": ["https://www.nilebasin.org"], "search_queries_used": ["Nile length"]}}}`,
    expected: {
      success: true,
      report: "The Nile is 6,650 km long by the usual count.",
      sources_visited: ["https://www.nilebasin.org"],
      search_queries_used: ["Nile length"],
    },
  },
  {
    id: "wrapped-data-fenced",
    family: "wrapped",
    schema: "deep_search",
    output: String.raw`${FENCE}json
{
  "status": "ok",
  "data": {
    "success": true,
    "verified": true,
    "report": "Der Dom wurde 1880 vollendet.",
    "metadata": { "sources_visited": ["https://www.koelner-dom.de"], "search_queries_used": ["Kölner Dom Vollendung"] }
  }
}
${FENCE}`,
    expected: {
      success: true,
      verified: true,
      report: "Der Dom wurde 1880 vollendet.",
      sources_visited: ["https://www.koelner-dom.de"],
      search_queries_used: ["Kölner Dom Vollendung"],
    },
  },
  {
    id: "wrapped-in-list",
    family: "wrapped",
    schema: "search",
    output: String.raw`${FENCE}json
[
  {
    "success": true,
    "report": "Bamboo can grow 91 cm in a day.",
    "metadata": { "sources_visited": ["https://www.guinnessworldrecords.com"], "search_queries_used": ["fastest growing plant"] }
  }
]
${FENCE}`,
    expected: {
      success: true,
      report: "Bamboo can grow 91 cm in a day.",
      sources_visited: ["https://www.guinnessworldrecords.com"],
      search_queries_used: ["fastest growing plant"],
    },
  },
  {
    id: "wrapped-as-string",
    family: "wrapped",
    schema: "search",
    output: String.raw`{"json": "{\"success\": true, \"report\": \"The set \\\"N\\\" is countable.\\n\\nSo is Q.\", \"metadata\": {\"sources_visited\": [\"https://mathworld.wolfram.com/CountableSet.html\"], \"search_queries_used\": [\"countable sets\"]}}"}`,
    expected: {
      success: true,
      report: 'The set "N" is countable.\n\nSo is Q.',
      sources_visited: ["https://mathworld.wolfram.com/CountableSet.html"],
      search_queries_used: ["countable sets"],
    },
  },
  {
    id: "wrapped-cli-json-output",
    family: "wrapped",
    schema: "search",
    output: String.raw`{
  "session_id": "0b9c2f7e",
  "response": "${FENCE}json\n{\n  \"success\": true,\n  \"report\": \"Der Rhein ist 1.233 km lang.\",\n  \"metadata\": { \"sources_visited\": [\"https://www.iksr.org\"], \"search_queries_used\": [\"Länge Rhein\"] }\n}\n${FENCE}",
  "stats": { "models": { "gemini-3-pro": { "tokens": { "prompt": 812, "candidates": 190 } } } }
}`,
    expected: {
      success: true,
      report: "Der Rhein ist 1.233 km lang.",
      sources_visited: ["https://www.iksr.org"],
      search_queries_used: ["Länge Rhein"],
    },
    why: "The Gemini CLI's own JSON output, should it ever come through unopened.",
  },
  {
    id: "wrapped-twice",
    family: "wrapped",
    schema: "search",
    output: String.raw`{"data": {"answer": {"success": true, "report": "Venus rotates backwards in 243 days.", "metadata": {"sources_visited": ["https://science.nasa.gov/venus/"], "search_queries_used": ["Venus rotation"]}}}}`,
    expected: {
      success: true,
      report: "Venus rotates backwards in 243 days.",
      sources_visited: ["https://science.nasa.gov/venus/"],
      search_queries_used: ["Venus rotation"],
    },
  },
  {
    id: "wrapped-and-broken",
    family: "wrapped",
    schema: "search",
    output: String.raw`{"response": {"success": true, "report": "Quito liegt auf 2.850 m.", "metadata": {"sources_visited": ["https://www.quito.gob.ec",], "search_queries_used": ["Höhe Quito"],},},}`,
    expected: {
      success: true,
      report: "Quito liegt auf 2.850 m.",
      sources_visited: ["https://www.quito.gob.ec"],
      search_queries_used: ["Höhe Quito"],
    },
  },
  {
    id: "wrapped-refusal-keeps-its-draft",
    family: "wrapped",
    schema: "search",
    output: String.raw`{"success": false, "error": "The sources contradict each other.", "draft": {"success": true, "report": "Maybe 40, maybe 60.", "metadata": {"sources_visited": [], "search_queries_used": []}}}`,
    expected: { success: false, sources_visited: [], search_queries_used: [] },
    why: "The outer object is the answer; what it carries along is not.",
  },
  {
    id: "label-json-without-fence",
    family: "bare-label",
    schema: "search",
    output: String.raw`json
{
  "success": true,
  "report": "The Oresund bridge opened on 1 July 2000.",
  "metadata": { "sources_visited": ["https://www.oresundsbron.com"], "search_queries_used": ["Oresund bridge opening"] }
}`,
    expected: {
      success: true,
      report: "The Oresund bridge opened on 1 July 2000.",
      sources_visited: ["https://www.oresundsbron.com"],
      search_queries_used: ["Oresund bridge opening"],
    },
  },
  {
    id: "label-glued-to-brace",
    family: "bare-label",
    schema: "search",
    output: String.raw`JSON:{"success": true, "report": "Kein Mond der Venus ist bekannt.", "metadata": {"sources_visited": ["https://ssd.jpl.nasa.gov/sats/"], "search_queries_used": ["Monde der Venus"]}}`,
    expected: {
      success: true,
      report: "Kein Mond der Venus ist bekannt.",
      sources_visited: ["https://ssd.jpl.nasa.gov/sats/"],
      search_queries_used: ["Monde der Venus"],
    },
  },
  {
    id: "bold-around",
    family: "markup",
    schema: "search",
    output: String.raw`**Answer:** **{"success": true, "report": "The **blue** whale is the largest animal known.", "metadata": {"sources_visited": ["https://www.fisheries.noaa.gov/species/blue-whale"], "search_queries_used": ["largest animal"]}}**`,
    expected: {
      success: true,
      report: "The **blue** whale is the largest animal known.",
      sources_visited: ["https://www.fisheries.noaa.gov/species/blue-whale"],
      search_queries_used: ["largest animal"],
    },
  },
  {
    id: "tags-around",
    family: "markup",
    schema: "deep_search",
    output: String.raw`<thinking>I should answer with {"success": ..., "report": ...}.</thinking>
<answer>
{"success": true, "verified": false, "report": "Die Sahara wächst um etwa 7.600 km² im Jahr – <i>umstritten</i>.", "metadata": {"sources_visited": ["https://journals.ametsoc.org"], "search_queries_used": ["Sahara expansion rate"]}}
</answer>`,
    expected: {
      success: true,
      verified: false,
      report: "Die Sahara wächst um etwa 7.600 km² im Jahr – <i>umstritten</i>.",
      sources_visited: ["https://journals.ametsoc.org"],
      search_queries_used: ["Sahara expansion rate"],
    },
  },
  {
    id: "block-quote-around",
    family: "markup",
    schema: "search",
    output: String.raw`Here is the answer:

> {
>   "success": true,
>   "report": "The Moon recedes by 3.8 cm a year.",
>   "metadata": {
>     "sources_visited": ["https://tmurphy.physics.ucsd.edu/apollo/"],
>     "search_queries_used": ["moon recession rate"]
>   }
> }`,
    expected: {
      success: true,
      report: "The Moon recedes by 3.8 cm a year.",
      sources_visited: ["https://tmurphy.physics.ucsd.edu/apollo/"],
      search_queries_used: ["moon recession rate"],
    },
  },
  {
    id: "citation-marks-between-tokens",
    family: "markup",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "The reactor reached criticality in 2024 [cite: 1, 4]. Output is 1,600 MW [cite: 2].", [cite: 1, 2, 4]
  "metadata": { "sources_visited": ["https://www.tvo.fi"], "search_queries_used": ["Olkiluoto 3 output"] }
}
${FENCE}`,
    expected: {
      success: true,
      report:
        "The reactor reached criticality in 2024 [cite: 1, 4]. Output is 1,600 MW [cite: 2].",
      sources_visited: ["https://www.tvo.fi"],
      search_queries_used: ["Olkiluoto 3 output"],
    },
    why: "Gemini's grounding drops such marks where it likes; inside the report they are the report's.",
  },
  {
    id: "thinking-with-braces",
    family: "thinking",
    schema: "search",
    output: String.raw`The set of candidates is {Ganymede, Titan, Callisto}. I will format {success, report, metadata} as asked, with f(x) = {x if x > 0}.

{"success": true, "report": "Ganymede is the largest moon (5,268 km).", "metadata": {"sources_visited": ["https://science.nasa.gov/jupiter/moons/ganymede/"], "search_queries_used": ["largest moon"]}}`,
    expected: {
      success: true,
      report: "Ganymede is the largest moon (5,268 km).",
      sources_visited: ["https://science.nasa.gov/jupiter/moons/ganymede/"],
      search_queries_used: ["largest moon"],
    },
  },
  {
    id: "thinking-with-unbalanced-brace-and-quote",
    family: "thinking",
    schema: "search",
    output: String.raw`Let me think. The user's query has a 5" figure and an opening { that is never closed; I'll ignore it :-{

Final answer:
{"success": true, "report": "A 5\" floppy is really 5¼ inches wide.", "metadata": {"sources_visited": ["https://www.computerhistory.org"], "search_queries_used": ["floppy disk size"]}}
(Confidence: high :-})`,
    expected: {
      success: true,
      report: 'A 5" floppy is really 5¼ inches wide.',
      sources_visited: ["https://www.computerhistory.org"],
      search_queries_used: ["floppy disk size"],
    },
  },
  {
    id: "thinking-with-tool-call-fence",
    family: "thinking",
    schema: "search",
    output: String.raw`I will search first.

${FENCE}json
{"tool": "google_web_search", "arguments": {"query": "world population 2025"}}
${FENCE}

The search gave a clear result.

{"success": true, "report": "世界人口は約82億人です（2025年、国連推計）。", "metadata": {"sources_visited": ["https://population.un.org/wpp/"], "search_queries_used": ["world population 2025"]}}`,
    expected: {
      success: true,
      report: "世界人口は約82億人です（2025年、国連推計）。",
      sources_visited: ["https://population.un.org/wpp/"],
      search_queries_used: ["world population 2025"],
    },
    why: "The labelled fence comes first in D1's order but does not fit.",
  },
];
