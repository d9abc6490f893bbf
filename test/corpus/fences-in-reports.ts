/** Answers whose report contains code blocks, which a search for fences mistakes for the end of the answer. */

import { FENCE, type CorpusCase } from "./corpus-case.ts";

export const FENCES_IN_REPORTS: readonly CorpusCase[] = [
  {
    id: "fences-python-block",
    family: "fences-in-report",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "Read a file lazily:\n\n${FENCE}python\nwith open(\"big.txt\") as handle:\n    for line in handle:\n        print(line)\n${FENCE}\n\nThis keeps one line in memory.",
  "metadata": { "sources_visited": ["https://docs.python.org/3/tutorial/inputoutput.html"], "search_queries_used": ["python read large file line by line"] }
}
${FENCE}`,
    expected: {
      success: true,
      report:
        'Read a file lazily:\n\n```python\nwith open("big.txt") as handle:\n    for line in handle:\n        print(line)\n```\n\nThis keeps one line in memory.',
      sources_visited: ["https://docs.python.org/3/tutorial/inputoutput.html"],
      search_queries_used: ["python read large file line by line"],
    },
  },
  {
    id: "fences-json-block-in-fenced",
    family: "fences-in-report",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "Set the option in tsconfig.json:\n\n${FENCE}json\n{ \"compilerOptions\": { \"strict\": true } }\n${FENCE}\n\nSee the handbook.",
  "metadata": { "sources_visited": ["https://www.typescriptlang.org/tsconfig/"], "search_queries_used": ["tsconfig strict"] }
}
${FENCE}`,
    expected: {
      success: true,
      report:
        'Set the option in tsconfig.json:\n\n```json\n{ "compilerOptions": { "strict": true } }\n```\n\nSee the handbook.',
      sources_visited: ["https://www.typescriptlang.org/tsconfig/"],
      search_queries_used: ["tsconfig strict"],
    },
  },
  {
    id: "fences-json-block-in-raw",
    family: "fences-in-report",
    schema: "search",
    output: String.raw`{"success": true, "report": "The documented default is:\n\n${FENCE}json\n{\"retries\": 3, \"backoff\": \"exponential\"}\n${FENCE}\n\nIt can be changed per request.", "metadata": {"sources_visited": ["https://cloud.google.com/apis/design/errors"], "search_queries_used": ["default retry policy"]}}`,
    expected: {
      success: true,
      report:
        'The documented default is:\n\n```json\n{"retries": 3, "backoff": "exponential"}\n```\n\nIt can be changed per request.',
      sources_visited: ["https://cloud.google.com/apis/design/errors"],
      search_queries_used: ["default retry policy"],
    },
  },
  {
    id: "fences-answer-like-object-in-report",
    family: "fences-in-report",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "The endpoint answers like this:\n\n${FENCE}json\n{\"success\": true, \"report\": \"pong\", \"metadata\": {\"sources_visited\": [\"https://inner.example\"], \"search_queries_used\": []}}\n${FENCE}\n\nErrors have the same shape.",
  "metadata": { "sources_visited": ["https://api.example/docs"], "search_queries_used": ["ping endpoint answer"] }
}
${FENCE}`,
    expected: {
      success: true,
      report:
        'The endpoint answers like this:\n\n```json\n{"success": true, "report": "pong", "metadata": {"sources_visited": ["https://inner.example"], "search_queries_used": []}}\n```\n\nErrors have the same shape.',
      sources_visited: ["https://api.example/docs"],
      search_queries_used: ["ping endpoint answer"],
    },
    why: "Text inside the report is quoted, even if it resembles an answer.",
  },
  {
    id: "fences-answer-like-object-and-trailing-comma",
    family: "fences-in-report",
    schema: "search",
    output: String.raw`{"success": true, "report": "A health check returns {\"success\": true, \"report\": \"pong\"} with status 200.", "metadata": {"sources_visited": ["https://api.example/health"], "search_queries_used": ["health check format"],},}`,
    expected: {
      success: true,
      report: 'A health check returns {"success": true, "report": "pong"} with status 200.',
      sources_visited: ["https://api.example/health"],
      search_queries_used: ["health check format"],
    },
    why: "The outer object needs a repair, the inner one would not; the inner one is still not the answer.",
  },
  {
    id: "fences-four-backticks-outside",
    family: "fences-in-report",
    schema: "search",
    output: String.raw`${FENCE}${"`"}json
{
  "success": true,
  "report": "Install it:\n\n${FENCE}bash\nnpm install -g @google/gemini-cli\n${FENCE}\n\nThen run ${"`"}gemini${"`"}.",
  "metadata": { "sources_visited": ["https://github.com/google-gemini/gemini-cli"], "search_queries_used": ["install gemini cli"] }
}
${FENCE}${"`"}`,
    expected: {
      success: true,
      report:
        "Install it:\n\n```bash\nnpm install -g @google/gemini-cli\n```\n\nThen run `gemini`.",
      sources_visited: ["https://github.com/google-gemini/gemini-cli"],
      search_queries_used: ["install gemini cli"],
    },
  },
  {
    id: "fences-nested-in-report",
    family: "fences-in-report",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "To show a fence, use a longer one:\n\n${FENCE}${"`"}markdown\n${FENCE}js\nlet a = 1;\n${FENCE}\n${FENCE}${"`"}\n\nCommonMark §4.5.",
  "metadata": { "sources_visited": ["https://spec.commonmark.org/0.31.2/"], "search_queries_used": ["commonmark nested fence"] }
}
${FENCE}`,
    expected: {
      success: true,
      report:
        "To show a fence, use a longer one:\n\n````markdown\n```js\nlet a = 1;\n```\n````\n\nCommonMark §4.5.",
      sources_visited: ["https://spec.commonmark.org/0.31.2/"],
      search_queries_used: ["commonmark nested fence"],
    },
  },
  {
    id: "fences-raw-lines-in-report",
    family: "fences-in-report",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "Count lines with:

${FENCE}bash
wc -l *.log
${FENCE}

Blank lines count too.",
  "metadata": { "sources_visited": ["https://man7.org/linux/man-pages/man1/wc.1.html"], "search_queries_used": ["count lines of files linux"] }
}
${FENCE}`,
    expected: {
      success: true,
      report: "Count lines with:\n\n```bash\nwc -l *.log\n```\n\nBlank lines count too.",
      sources_visited: ["https://man7.org/linux/man-pages/man1/wc.1.html"],
      search_queries_used: ["count lines of files linux"],
    },
    why: "The line breaks are raw, so the inner fence is at the start of a line like the real one.",
  },
  {
    id: "fences-tilde-outside-backticks-inside",
    family: "fences-in-report",
    schema: "deep_search",
    output: String.raw`~~~json
{
  "success": true,
  "verified": true,
  "report": "${FENCE}sql\nSELECT count(*) FROM runs;\n${FENCE}\nzählt alle Läufe – auch abgebrochene.",
  "metadata": { "sources_visited": ["https://www.sqlite.org/lang_aggfunc.html"], "search_queries_used": ["sqlite count"] }
}
~~~`,
    expected: {
      success: true,
      verified: true,
      report: "```sql\nSELECT count(*) FROM runs;\n```\nzählt alle Läufe – auch abgebrochene.",
      sources_visited: ["https://www.sqlite.org/lang_aggfunc.html"],
      search_queries_used: ["sqlite count"],
    },
  },
  {
    id: "fences-report-ends-with-fence",
    family: "fences-in-report",
    schema: "search",
    output: String.raw`${FENCE}
{"success": true, "report": "最小の設定例:\n\n${FENCE}yaml\nservices:\n  web:\n    image: nginx:1.29\n${FENCE}", "metadata": {"sources_visited": ["https://docs.docker.com/compose/"], "search_queries_used": ["docker compose 最小構成"]}}
${FENCE}`,
    expected: {
      success: true,
      report: "最小の設定例:\n\n```yaml\nservices:\n  web:\n    image: nginx:1.29\n```",
      sources_visited: ["https://docs.docker.com/compose/"],
      search_queries_used: ["docker compose 最小構成"],
    },
  },
  {
    id: "fences-odd-number-in-report",
    family: "fences-in-report",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "A code fence is opened by three backticks (${FENCE}) or tildes (~~~); one that is never closed runs to the end of the document.",
  "metadata": { "sources_visited": ["https://spec.commonmark.org/0.31.2/#fenced-code-blocks"], "search_queries_used": ["unclosed code fence commonmark"] }
}
${FENCE}
`,
    expected: {
      success: true,
      report:
        "A code fence is opened by three backticks (```) or tildes (~~~); one that is never closed runs to the end of the document.",
      sources_visited: ["https://spec.commonmark.org/0.31.2/#fenced-code-blocks"],
      search_queries_used: ["unclosed code fence commonmark"],
    },
  },
];
