/** Answers with readable JSON whose fields differ from the schema. */

import { FENCE, type CorpusCase } from "./corpus-case.ts";

export const SHAPES: readonly CorpusCase[] = [
  {
    id: "clean-metadata-first",
    family: "clean",
    schema: "deep_search",
    output: String.raw`${FENCE}json
{
  "metadata": { "search_queries_used": ["Gotthard-Basistunnel Länge"], "sources_visited": ["https://www.alptransit.ch"] },
  "verified": true,
  "report": "Der Gotthard-Basistunnel ist 57,1 km lang – der längste Eisenbahntunnel der Welt. 🚆",
  "success": true
}
${FENCE}`,
    expected: {
      success: true,
      verified: true,
      report: "Der Gotthard-Basistunnel ist 57,1 km lang – der längste Eisenbahntunnel der Welt. 🚆",
      sources_visited: ["https://www.alptransit.ch"],
      search_queries_used: ["Gotthard-Basistunnel Länge"],
    },
  },
  {
    id: "clean-extra-fields",
    family: "clean",
    schema: "search",
    output: String.raw`{"success": true, "title": "Tides", "confidence": 0.93, "report": "The Bay of Fundy has the highest tides on Earth, up to 16.3 m at Burntcoat Head ([DFO](https://www.dfo-mpo.gc.ca)).", "metadata": {"sources_visited": ["https://www.dfo-mpo.gc.ca"], "search_queries_used": ["highest tides in the world"], "tokens_used": 1834}, "error": null}`,
    expected: {
      success: true,
      report:
        "The Bay of Fundy has the highest tides on Earth, up to 16.3 m at Burntcoat Head ([DFO](https://www.dfo-mpo.gc.ca)).",
      sources_visited: ["https://www.dfo-mpo.gc.ca"],
      search_queries_used: ["highest tides in the world"],
    },
  },
  {
    id: "types-success-as-string",
    family: "wrong-types",
    schema: "search",
    output: String.raw`{"success": "true", "report": "The first FIFA World Cup was held in 1930.", "metadata": {"sources_visited": ["https://www.fifa.com"], "search_queries_used": ["first world cup"]}}`,
    expected: {
      success: true,
      report: "The first FIFA World Cup was held in 1930.",
      sources_visited: ["https://www.fifa.com"],
      search_queries_used: ["first world cup"],
    },
  },
  {
    id: "types-both-verdicts-as-strings",
    family: "wrong-types",
    schema: "deep_search",
    output: String.raw`${FENCE}json
{"success": "true", "verified": "false", "report": "Zwei der drei Angaben sind belegt.", "metadata": {"sources_visited": ["https://www.bpb.de"], "search_queries_used": ["Beleg"]}}
${FENCE}`,
    expected: {
      success: true,
      verified: false,
      report: "Zwei der drei Angaben sind belegt.",
      sources_visited: ["https://www.bpb.de"],
      search_queries_used: ["Beleg"],
    },
  },
  {
    id: "types-refusal-as-string",
    family: "wrong-types",
    schema: "search",
    output: String.raw`{"success": "false", "error": "No reliable source found."}`,
    expected: { success: false, sources_visited: [], search_queries_used: [] },
  },
  {
    id: "types-mixed-lists",
    family: "wrong-types",
    schema: "search",
    output: String.raw`{"success": true, "report": "Mixed lists happen.", "metadata": {"sources_visited": ["https://a.example", null, 7, {"url": "https://b.example"}, "https://c.example"], "search_queries_used": [true, "kept", ["nested"]]}}`,
    expected: {
      success: true,
      report: "Mixed lists happen.",
      sources_visited: ["https://a.example", "https://c.example"],
      search_queries_used: ["kept"],
    },
  },
  {
    id: "types-sources-as-objects",
    family: "wrong-types",
    schema: "search",
    output: String.raw`{"success": true, "report": "オーロラは極地で見られます。", "metadata": {"sources_visited": [{"url": "https://www.swpc.noaa.gov", "title": "SWPC"}], "search_queries_used": ["オーロラ"]}}`,
    expected: {
      success: true,
      report: "オーロラは極地で見られます。",
      sources_visited: [],
      search_queries_used: ["オーロラ"],
    },
    why: "D2 keeps only strings and does not check their content.",
  },
  {
    id: "types-metadata-missing",
    family: "wrong-types",
    schema: "search",
    output: String.raw`{"success": true, "report": "Argon makes up 0.93 % of the atmosphere."}`,
    expected: {
      success: true,
      report: "Argon makes up 0.93 % of the atmosphere.",
      sources_visited: [],
      search_queries_used: [],
    },
  },
  {
    id: "types-metadata-as-string",
    family: "wrong-types",
    schema: "deep_search",
    output: String.raw`{"success": true, "verified": true, "report": "The claim holds.", "metadata": "sources: https://a.example"}`,
    expected: {
      success: true,
      verified: true,
      report: "The claim holds.",
      sources_visited: [],
      search_queries_used: [],
    },
  },
  {
    id: "types-list-as-string",
    family: "wrong-types",
    schema: "search",
    output: String.raw`{"success": true, "report": "Basalt is the most common volcanic rock.", "metadata": {"sources_visited": "https://www.usgs.gov", "search_queries_used": ["common volcanic rock"]}}`,
    expected: {
      success: true,
      report: "Basalt is the most common volcanic rock.",
      sources_visited: [],
      search_queries_used: ["common volcanic rock"],
    },
  },
  {
    id: "result-instead-of-report",
    family: "result-key",
    schema: "search",
    output: String.raw`${FENCE}json
{"success": true, "result": "## Kurz\n\nDer Leitzins liegt bei 2,00 %.", "metadata": {"sources_visited": ["https://www.ecb.europa.eu"], "search_queries_used": ["EZB Leitzins"]}}
${FENCE}`,
    expected: {
      success: true,
      report: "## Kurz\n\nDer Leitzins liegt bei 2,00 %.",
      sources_visited: ["https://www.ecb.europa.eu"],
      search_queries_used: ["EZB Leitzins"],
    },
  },
  {
    id: "result-and-cut-after-it",
    family: "result-key",
    schema: "deep_search",
    output: String.raw`{"success": true, "verified": false, "result": "Platinum is denser than gold.", "metadata": {"sources_visited": ["https://www.rsc.org/periodic-table"], "search_quer`,
    expected: {
      success: true,
      verified: false,
      report: "Platinum is denser than gold.",
      sources_visited: ["https://www.rsc.org/periodic-table"],
      search_queries_used: [],
    },
  },
  {
    id: "refusal-fenced",
    family: "refusal",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": false,
  "error": "No page mentions a person of that name."
}
${FENCE}`,
    expected: { success: false, sources_visited: [], search_queries_used: [] },
  },
  {
    id: "refusal-deep-without-verdict",
    family: "refusal",
    schema: "deep_search",
    output: String.raw`{"success": false, "error": "Die Prüfung war nicht möglich: alle Seiten antworten mit 403."}`,
    expected: { success: false, sources_visited: [], search_queries_used: [] },
  },
  {
    id: "refusal-deep-with-lists",
    family: "refusal",
    schema: "deep_search",
    output: String.raw`${FENCE}json
{"success": false, "verified": false, "error": "Nothing useful was found.", "metadata": {"sources_visited": [], "search_queries_used": ["obscure question", "obscure question forum"]},}
${FENCE}`,
    expected: {
      success: false,
      verified: false,
      sources_visited: [],
      search_queries_used: ["obscure question", "obscure question forum"],
    },
  },
  {
    id: "refusal-after-a-sentence",
    family: "refusal",
    schema: "search",
    output: String.raw`I searched for this name and opened two pages.

${FENCE}json
{"success": false, "error": "No page mentions a person of that name."}
${FENCE}`,
    expected: {
      success: false,
      report: "I searched for this name and opened two pages.",
      sources_visited: [],
      search_queries_used: [],
    },
    why: "The sentence was paid for.",
  },
  {
    id: "refusal-in-an-envelope",
    family: "refusal",
    schema: "search",
    output: String.raw`{"response": {"success": false, "error": "Nothing useful was found."}}`,
    expected: { success: false, sources_visited: [], search_queries_used: [] },
  },
  {
    id: "refusal-with-its-report",
    family: "refusal",
    schema: "deep_search",
    output: String.raw`{"success": false, "verified": false, "report": "Only one page, of 2009, mentions it.", "error": "Too little was found."}`,
    expected: {
      success: false,
      verified: false,
      report: "Only one page, of 2009, mentions it.",
      sources_visited: [],
      search_queries_used: [],
    },
  },
  {
    id: "pollution-proto-key",
    family: "pollution",
    schema: "search",
    output: String.raw`{"__proto__": {"polluted": true, "success": false}, "success": true, "report": "Prototype keys do not matter.", "metadata": {"__proto__": {"polluted": true}, "sources_visited": ["https://cwe.mitre.org/data/definitions/1321.html"], "search_queries_used": ["prototype pollution"]}}`,
    expected: {
      success: true,
      report: "Prototype keys do not matter.",
      sources_visited: ["https://cwe.mitre.org/data/definitions/1321.html"],
      search_queries_used: ["prototype pollution"],
    },
  },
  {
    id: "pollution-constructor-and-repair",
    family: "pollution",
    schema: "search",
    output: String.raw`{"constructor": {"prototype": {"polluted": true}}, "__proto__": {"polluted": true}, "success": true, "report": "Nor after a repair.", "metadata": {"sources_visited": ["https://a.example",], "search_queries_used": ["pollution",],},}`,
    expected: {
      success: true,
      report: "Nor after a repair.",
      sources_visited: ["https://a.example"],
      search_queries_used: ["pollution"],
    },
  },
  {
    id: "duplicate-keys-same-value",
    family: "duplicate-keys",
    schema: "search",
    output: String.raw`{"success": true, "success": true, "report": "Beide gleich.", "report": "Beide gleich.", "metadata": {"sources_visited": ["https://a.example"], "search_queries_used": ["gleich"]}}`,
    expected: {
      success: true,
      report: "Beide gleich.",
      sources_visited: ["https://a.example"],
      search_queries_used: ["gleich"],
    },
  },
  {
    id: "duplicate-keys-last-counts",
    family: "duplicate-keys",
    schema: "search",
    output: String.raw`{"success": true, "report": "Working title.", "report": "Lisbon lies on seven hills by tradition.", "metadata": {"sources_visited": ["https://www.visitlisboa.com"], "search_queries_used": ["Lisbon hills"]}}`,
    expected: {
      success: true,
      report: "Lisbon lies on seven hills by tradition.",
      sources_visited: ["https://www.visitlisboa.com"],
      search_queries_used: ["Lisbon hills"],
    },
    why: "Sound JSON, and every parser takes the last one.",
  },
];
