/** Answers that were escaped twice or contain invisible characters. */

import { FENCE, type CorpusCase } from "./corpus-case.ts";

export const ENCODINGS: readonly CorpusCase[] = [
  {
    id: "doubled-as-json-string",
    family: "doubled-escaping",
    schema: "search",
    output: String.raw`"{\"success\": true, \"report\": \"# Heat pumps\\n\\nThe \\\"seasonal\\\" factor was 3.1.\", \"metadata\": {\"sources_visited\": [\"https://www.ise.fraunhofer.de\"], \"search_queries_used\": [\"heat pump field test\"]}}"`,
    expected: {
      success: true,
      report: '# Heat pumps\n\nThe "seasonal" factor was 3.1.',
      sources_visited: ["https://www.ise.fraunhofer.de"],
      search_queries_used: ["heat pump field test"],
    },
  },
  {
    id: "doubled-as-json-string-fenced",
    family: "doubled-escaping",
    schema: "deep_search",
    output: String.raw`${FENCE}json
"{\n  \"success\": true,\n  \"verified\": false,\n  \"report\": \"Die Linie U5 endet am Hauptbahnhof.\\nWeiterbau ist geplant.\",\n  \"metadata\": {\n    \"sources_visited\": [\"https://www.bvg.de\"],\n    \"search_queries_used\": [\"U5 Berlin Endstation\"]\n  }\n}"
${FENCE}`,
    expected: {
      success: true,
      verified: false,
      report: "Die Linie U5 endet am Hauptbahnhof.\nWeiterbau ist geplant.",
      sources_visited: ["https://www.bvg.de"],
      search_queries_used: ["U5 Berlin Endstation"],
    },
  },
  {
    id: "doubled-without-outer-quotes",
    family: "doubled-escaping",
    schema: "search",
    output: String.raw`{\"success\": true, \"report\": \"Krill biomass is put at 379 million tonnes.\\n\\n- Source: CCAMLR\", \"metadata\": {\"sources_visited\": [\"https://www.ccamlr.org/en/fisheries/krill\"], \"search_queries_used\": [\"krill biomass\"]}}`,
    expected: {
      success: true,
      report: "Krill biomass is put at 379 million tonnes.\n\n- Source: CCAMLR",
      sources_visited: ["https://www.ccamlr.org/en/fisheries/krill"],
      search_queries_used: ["krill biomass"],
    },
  },
  {
    id: "doubled-pretty-without-outer-quotes",
    family: "doubled-escaping",
    schema: "search",
    output: String.raw`${FENCE}json
{\n  \"success\": true,\n  \"report\": \"日本の高速道路の総延長は約9,000kmです。\",\n  \"metadata\": {\n    \"sources_visited\": [\"https://www.mlit.go.jp/road/\"],\n    \"search_queries_used\": [\"高速道路 総延長\"]\n  }\n}
${FENCE}`,
    expected: {
      success: true,
      report: "日本の高速道路の総延長は約9,000kmです。",
      sources_visited: ["https://www.mlit.go.jp/road/"],
      search_queries_used: ["高速道路 総延長"],
    },
  },
  {
    id: "written-out-line-breaks-between-tokens",
    family: "doubled-escaping",
    schema: "search",
    output: String.raw`{\n  "success": true,\n  "report": "The strait is 14.3 km wide.\n\nFerries take an hour.",\n  "metadata": {\n    "sources_visited": ["https://www.frs.world"],\n    "search_queries_used": ["strait width"]\n  }\n}`,
    expected: {
      success: true,
      report: "The strait is 14.3 km wide.\n\nFerries take an hour.",
      sources_visited: ["https://www.frs.world"],
      search_queries_used: ["strait width"],
    },
    why: "A backslash and an n between the tokens, where a line break belongs.",
  },
  {
    id: "entities-as-delimiters",
    family: "entities",
    schema: "search",
    output: String.raw`{&quot;success&quot;: true, &quot;report&quot;: &quot;R&amp;D spending reached 3.1 % &lt;of GDP&gt; in 2023; it&#39;s a record.&quot;, &quot;metadata&quot;: {&quot;sources_visited&quot;: [&quot;https://ec.europa.eu/eurostat/?a=1&amp;b=2&quot;], &quot;search_queries_used&quot;: [&quot;R&amp;D share GDP&quot;]}}`,
    expected: {
      success: true,
      report: "R&D spending reached 3.1 % <of GDP> in 2023; it's a record.",
      sources_visited: ["https://ec.europa.eu/eurostat/?a=1&b=2"],
      search_queries_used: ["R&D share GDP"],
    },
  },
  {
    id: "entities-in-pre-block",
    family: "entities",
    schema: "deep_search",
    output: String.raw`<pre><code class="language-json">{
  &quot;success&quot;: true,
  &quot;verified&quot;: true,
  &quot;report&quot;: &quot;Die \&quot;Rote Liste\&quot; führt 2.600 Arten.\n\nStand: 2024.&quot;,
  &quot;metadata&quot;: {
    &quot;sources_visited&quot;: [&quot;https://www.rote-liste-zentrum.de&quot;],
    &quot;search_queries_used&quot;: [&quot;Rote Liste Arten&quot;]
  }
}</code></pre>`,
    expected: {
      success: true,
      verified: true,
      report: 'Die "Rote Liste" führt 2.600 Arten.\n\nStand: 2024.',
      sources_visited: ["https://www.rote-liste-zentrum.de"],
      search_queries_used: ["Rote Liste Arten"],
    },
  },
  {
    id: "entities-numeric-delimiters",
    family: "entities",
    schema: "search",
    output: String.raw`{&#34;success&#34;: true, &#34;report&#34;: &#34;The dam holds 35 km³.&#34;, &#34;metadata&#34;: {&#34;sources_visited&#34;: [&#34;https://www.icold-cigb.org&#34;], &#34;search_queries_used&#34;: [&#34;dam volume&#34;]}}`,
    expected: {
      success: true,
      report: "The dam holds 35 km³.",
      sources_visited: ["https://www.icold-cigb.org"],
      search_queries_used: ["dam volume"],
    },
  },
  {
    id: "entities-stay-in-sound-report",
    family: "entities",
    schema: "search",
    output: String.raw`${FENCE}json
{"success": true, "report": "Write &amp;quot; for a quotation mark: &quot;like this&quot; &#8212; and &lt;br&gt; for a tag.", "metadata": {"sources_visited": ["https://html.spec.whatwg.org/?a=1&amp;b=2"], "search_queries_used": ["html entities"]}}
${FENCE}`,
    expected: {
      success: true,
      report:
        "Write &amp;quot; for a quotation mark: &quot;like this&quot; &#8212; and &lt;br&gt; for a tag.",
      sources_visited: ["https://html.spec.whatwg.org/?a=1&amp;b=2"],
      search_queries_used: ["html entities"],
    },
    why: "The JSON is valid; the entities belong to the report.",
  },
  {
    id: "entities-stay-when-only-a-comma-is-wrong",
    family: "entities",
    schema: "search",
    output: String.raw`{"success": true, "report": "AT&amp;T bought &quot;DirecTV&quot; in 2015.", "metadata": {"sources_visited": ["https://about.att.com"], "search_queries_used": ["AT&T DirecTV"],}}`,
    expected: {
      success: true,
      report: "AT&amp;T bought &quot;DirecTV&quot; in 2015.",
      sources_visited: ["https://about.att.com"],
      search_queries_used: ["AT&T DirecTV"],
    },
    why: "A repair for one fault must not rewrite the text for another that is not there.",
  },
  {
    id: "invisible-byte-order-mark",
    family: "invisible",
    schema: "search",
    output: `\uFEFF{"success": true, "report": "Der Bodensee ist 251 m tief.", "metadata": {"sources_visited": ["https://www.igkb.org"], "search_queries_used": ["Tiefe Bodensee"]}}`,
    expected: {
      success: true,
      report: "Der Bodensee ist 251 m tief.",
      sources_visited: ["https://www.igkb.org"],
      search_queries_used: ["Tiefe Bodensee"],
    },
  },
  {
    id: "invisible-zero-width-around",
    family: "invisible",
    schema: "search",
    output: `\u200B\`\`\`json\u200B\n\u2060{"success": true, "report": "👩‍🚀 Four astronauts flew on Crew-9… two of them home.", "metadata": {"sources_visited": ["https://www.nasa.gov/crew-9"], "search_queries_used": ["Crew-9"]}}\u200B\n\`\`\`\uFEFF`,
    expected: {
      success: true,
      report: "👩‍🚀 Four astronauts flew on Crew-9… two of them home.",
      sources_visited: ["https://www.nasa.gov/crew-9"],
      search_queries_used: ["Crew-9"],
    },
    why: "The zero-width joiner inside the emoji belongs to the text.",
  },
  {
    id: "invisible-zero-width-between-tokens",
    family: "invisible",
    schema: "search",
    output: `{\u200B"success":\u200B true,\u200B "report": "The lake froze in 1963.", "metadata": {\u200B"sources_visited": ["https://www.meteoswiss.admin.ch"], "search_queries_used": ["lake frozen year"]}}`,
    expected: {
      success: true,
      report: "The lake froze in 1963.",
      sources_visited: ["https://www.meteoswiss.admin.ch"],
      search_queries_used: ["lake frozen year"],
    },
  },
  {
    id: "invisible-no-break-spaces",
    family: "invisible",
    schema: "search",
    output: `{\n\u00A0\u00A0"success":\u00A0true,\n\u00A0\u00A0"report":\u00A0"Le budget s'élève à 3\u00A0000\u00A0€.",\n\u3000"metadata": { "sources_visited": ["https://www.budget.gouv.fr"], "search_queries_used": ["budget"] }\n}`,
    expected: {
      success: true,
      report: "Le budget s'élève à 3\u00A0000\u00A0€.",
      sources_visited: ["https://www.budget.gouv.fr"],
      search_queries_used: ["budget"],
    },
    why: "French text uses no-break spaces inside numbers; those stay.",
  },
  {
    id: "invisible-terminal-colours",
    family: "invisible",
    schema: "search",
    output: `\u001B[32m{"success": true, "report": "Vesuvius last erupted in 1944.", "metadata": {"sources_visited": ["https://volcano.si.edu"], "search_queries_used": ["Vesuvius last eruption"]}}\u001B[0m\n`,
    expected: {
      success: true,
      report: "Vesuvius last erupted in 1944.",
      sources_visited: ["https://volcano.si.edu"],
      search_queries_used: ["Vesuvius last eruption"],
    },
  },
  {
    id: "crlf-line-ends",
    family: "crlf",
    schema: "search",
    output:
      '```json\r\n{\r\n  "success": true,\r\n  "report": "Zeile 1\\r\\nZeile 2",\r\n  "metadata": {\r\n    "sources_visited": ["https://www.rfc-editor.org"],\r\n    "search_queries_used": ["CRLF"]\r\n  }\r\n}\r\n```\r\n',
    expected: {
      success: true,
      report: "Zeile 1\r\nZeile 2",
      sources_visited: ["https://www.rfc-editor.org"],
      search_queries_used: ["CRLF"],
    },
  },
  {
    id: "crlf-and-trailing-commas",
    family: "crlf",
    schema: "deep_search",
    output:
      'Result:\r\n\r\n```json\r\n{\r\n  "success": true,\r\n  "verified": false,\r\n  "report": "The port handled 13.8 million TEU.",\r\n  "metadata": {\r\n    "sources_visited": ["https://www.portofrotterdam.com",],\r\n    "search_queries_used": ["Rotterdam TEU"],\r\n  },\r\n}\r\n```',
    expected: {
      success: true,
      verified: false,
      report: "The port handled 13.8 million TEU.",
      sources_visited: ["https://www.portofrotterdam.com"],
      search_queries_used: ["Rotterdam TEU"],
    },
  },
];
