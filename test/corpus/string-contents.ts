/** Answers whose strings contain raw control characters or invalid escapes. */

import { FENCE, type CorpusCase } from "./corpus-case.ts";

export const STRING_CONTENTS: readonly CorpusCase[] = [
  {
    id: "raw-newlines",
    family: "raw-control",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "# Ergebnis

Der Brenner-Basistunnel soll **2032** öffnen.

## Belege

1. [BBT SE](https://www.bbt-se.com)
2. ÖBB-Rahmenplan",
  "metadata": {
    "sources_visited": ["https://www.bbt-se.com"],
    "search_queries_used": ["Brenner Basistunnel Eröffnung"]
  }
}
${FENCE}`,
    expected: {
      success: true,
      report:
        "# Ergebnis\n\nDer Brenner-Basistunnel soll **2032** öffnen.\n\n## Belege\n\n1. [BBT SE](https://www.bbt-se.com)\n2. ÖBB-Rahmenplan",
      sources_visited: ["https://www.bbt-se.com"],
      search_queries_used: ["Brenner Basistunnel Eröffnung"],
    },
  },
  {
    id: "raw-newlines-and-table",
    family: "raw-control",
    schema: "deep_search",
    output: String.raw`{"success": true, "verified": false, "report": "| 年 | 訪日客数 |
|---|---|
| 2023 | 2,507万人 |
| 2024 | 3,687万人 |

過去最多です。🎌", "metadata": {"sources_visited": ["https://www.jnto.go.jp/statistics/"], "search_queries_used": ["訪日外客数 2024"]}}`,
    expected: {
      success: true,
      verified: false,
      report:
        "| 年 | 訪日客数 |\n|---|---|\n| 2023 | 2,507万人 |\n| 2024 | 3,687万人 |\n\n過去最多です。🎌",
      sources_visited: ["https://www.jnto.go.jp/statistics/"],
      search_queries_used: ["訪日外客数 2024"],
    },
  },
  {
    id: "raw-tabs",
    family: "raw-control",
    schema: "search",
    output: `{"success": true, "report": "Name\tValue\nalpha\t1\nbeta\t2", "metadata": {"sources_visited": ["https://physics.nist.gov/cuu/Constants/"], "search_queries_used": ["alpha\tbeta"]}}`,
    expected: {
      success: true,
      report: "Name\tValue\nalpha\t1\nbeta\t2",
      sources_visited: ["https://physics.nist.gov/cuu/Constants/"],
      search_queries_used: ["alpha\tbeta"],
    },
    why: "Not a raw template: the tabs and line breaks are really in the output.",
  },
  {
    id: "raw-newlines-with-inner-quotes",
    family: "raw-control",
    schema: "search",
    output: String.raw`{
  "success": true,
  "report": "## What critics say

Smith (2023) calls the study "underpowered" and "hard to replicate".

> "The effect vanishes in larger samples."

A reply is in press.",
  "metadata": { "sources_visited": ["https://osf.io/replication"], "search_queries_used": ["study replication criticism"] }
}`,
    expected: {
      success: true,
      report:
        '## What critics say\n\nSmith (2023) calls the study "underpowered" and "hard to replicate".\n\n> "The effect vanishes in larger samples."\n\nA reply is in press.',
      sources_visited: ["https://osf.io/replication"],
      search_queries_used: ["study replication criticism"],
    },
  },
  {
    id: "escape-apostrophe",
    family: "invalid-escapes",
    schema: "search",
    output: String.raw`{"success": true, "report": "It\'s the city\'s first tram line since 1957.", "metadata": {"sources_visited": ["https://www.paris.fr"], "search_queries_used": ["city\'s tram line"]}}`,
    expected: {
      success: true,
      report: "It's the city's first tram line since 1957.",
      sources_visited: ["https://www.paris.fr"],
      search_queries_used: ["city's tram line"],
    },
  },
  {
    id: "escape-markdown-underscore-and-star",
    family: "invalid-escapes",
    schema: "search",
    output: String.raw`${FENCE}json
{"success": true, "report": "Set max\_connections to 200; 5 \* 40 workers is enough. Costs \$12 per month \(net\).", "metadata": {"sources_visited": ["https://www.postgresql.org/docs/current/runtime-config-connection.html"], "search_queries_used": ["max connections postgres"]}}
${FENCE}`,
    expected: {
      success: true,
      report:
        "Set max\\_connections to 200; 5 \\* 40 workers is enough. Costs \\$12 per month \\(net\\).",
      sources_visited: [
        "https://www.postgresql.org/docs/current/runtime-config-connection.html",
      ],
      search_queries_used: ["max connections postgres"],
    },
    alsoFaithful: "Set max_connections to 200; 5 * 40 workers is enough. Costs $12 per month (net).",
    why: "Markdown renders both spellings alike.",
  },
  {
    id: "escape-regular-expression",
    family: "invalid-escapes",
    schema: "search",
    output: String.raw`{"success": true, "report": "Match a date with ^\d{4}-\d{2}-\d{2}$ and a word with \w+.", "metadata": {"sources_visited": ["https://developer.mozilla.org/docs/Web/JavaScript/Guide/Regular_expressions"], "search_queries_used": ["regex iso date"]}}`,
    expected: {
      success: true,
      report: "Match a date with ^\\d{4}-\\d{2}-\\d{2}$ and a word with \\w+.",
      sources_visited: [
        "https://developer.mozilla.org/docs/Web/JavaScript/Guide/Regular_expressions",
      ],
      search_queries_used: ["regex iso date"],
    },
    why: "Without its backslash the expression means something else.",
  },
  {
    id: "escape-windows-path",
    family: "invalid-escapes",
    schema: "search",
    output: String.raw`{"success": true, "report": "Git installs to C:\Program Files\Git by default.", "metadata": {"sources_visited": ["https://gitforwindows.org"], "search_queries_used": ["git default folder windows"]}}`,
    expected: {
      success: true,
      report: "Git installs to C:\\Program Files\\Git by default.",
      sources_visited: ["https://gitforwindows.org"],
      search_queries_used: ["git default folder windows"],
    },
  },
  {
    id: "escape-latex",
    family: "invalid-escapes",
    schema: "deep_search",
    output: String.raw`{"success": true, "verified": true, "report": "Die Feinstrukturkonstante ist $\alpha \approx 1/137$ (CODATA 2022).", "metadata": {"sources_visited": ["https://physics.nist.gov/cgi-bin/cuu/Value?alph"], "search_queries_used": ["Feinstrukturkonstante Wert"]}}`,
    expected: {
      success: true,
      verified: true,
      report: "Die Feinstrukturkonstante ist $\\alpha \\approx 1/137$ (CODATA 2022).",
      sources_visited: ["https://physics.nist.gov/cgi-bin/cuu/Value?alph"],
      search_queries_used: ["Feinstrukturkonstante Wert"],
    },
  },
  {
    id: "triple-quotes",
    family: "foreign-strings",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": """The vote passed 312 to 290.

A second reading is due in March.""",
  "metadata": { "sources_visited": ["https://www.parliament.uk"], "search_queries_used": ["vote result second reading"] }
}
${FENCE}`,
    expected: {
      success: true,
      report: "The vote passed 312 to 290.\n\nA second reading is due in March.",
      sources_visited: ["https://www.parliament.uk"],
      search_queries_used: ["vote result second reading"],
    },
    why: "Python's way of writing a long text.",
  },
  {
    id: "template-string",
    family: "foreign-strings",
    schema: "search",
    output: [
      "{",
      '  "success": true,',
      '  "report": `The ferry runs hourly.',
      "",
      "In winter it runs every two hours.`,",
      '  "metadata": { "sources_visited": ["https://www.bcferries.com"], "search_queries_used": ["ferry timetable"] }',
      "}",
    ].join("\n"),
    expected: {
      success: true,
      report: "The ferry runs hourly.\n\nIn winter it runs every two hours.",
      sources_visited: ["https://www.bcferries.com"],
      search_queries_used: ["ferry timetable"],
    },
    why: "JavaScript's way of writing a long text.",
  },
  {
    id: "concatenated-string",
    family: "foreign-strings",
    schema: "search",
    output: String.raw`{
  "success": true,
  "report": "# Ferries\n\n" +
    "The crossing takes 95 minutes.\n" +
    "Bicycles travel free.",
  "metadata": { "sources_visited": ["https://www.bcferries.com/routes"], "search_queries_used": ["crossing time"] }
}`,
    expected: {
      success: true,
      report: "# Ferries\n\nThe crossing takes 95 minutes.\nBicycles travel free.",
      sources_visited: ["https://www.bcferries.com/routes"],
      search_queries_used: ["crossing time"],
    },
  },
];
