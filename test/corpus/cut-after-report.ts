/** Answers that were cut after the report: the report is complete, only the list of sources is not. */

import { FENCE, type CorpusCase } from "./corpus-case.ts";

export const CUT_AFTER_REPORT: readonly CorpusCase[] = [
  {
    id: "cut-after-comma",
    family: "cut-after-report",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "Lake Baikal holds about 23,600 km³ of water, more than a fifth of the world's unfrozen fresh surface water.",`,
    expected: {
      success: true,
      report:
        "Lake Baikal holds about 23,600 km³ of water, more than a fifth of the world's unfrozen fresh surface water.",
      sources_visited: [],
      search_queries_used: [],
    },
  },
  {
    id: "cut-in-metadata-key",
    family: "cut-after-report",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "Die Zugspitze ist 2.962 m hoch (amtliche Vermessung).",
  "metad`,
    expected: {
      success: true,
      report: "Die Zugspitze ist 2.962 m hoch (amtliche Vermessung).",
      sources_visited: [],
      search_queries_used: [],
    },
  },
  {
    id: "cut-after-metadata-brace",
    family: "cut-after-report",
    schema: "search",
    output: String.raw`{"success": true, "report": "Zinc melts at 419.5 °C.", "metadata": {`,
    expected: {
      success: true,
      report: "Zinc melts at 419.5 °C.",
      sources_visited: [],
      search_queries_used: [],
    },
  },
  {
    id: "cut-in-first-source",
    family: "cut-after-report",
    schema: "search",
    output: String.raw`{"success": true, "report": "# Kakapo\n\n237 adult birds were alive in 2025 🦜.", "metadata": {"sources_visited": ["https://www.doc.govt.nz/our-work/kaka`,
    expected: {
      success: true,
      report: "# Kakapo\n\n237 adult birds were alive in 2025 🦜.",
      sources_visited: [],
      search_queries_used: [],
    },
    why: "A truncated URL was never visited.",
  },
  {
    id: "cut-in-second-source",
    family: "cut-after-report",
    schema: "deep_search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "verified": false,
  "report": "Die Elbphilharmonie kostete die Stadt Hamburg 789 Mio. Euro; geplant waren 77 Mio.",
  "metadata": {
    "sources_visited": [
      "https://www.hamburg.de/elbphilharmonie",
      "https://www.zeit.de/hamb`,
    expected: {
      success: true,
      verified: false,
      report:
        "Die Elbphilharmonie kostete die Stadt Hamburg 789 Mio. Euro; geplant waren 77 Mio.",
      sources_visited: ["https://www.hamburg.de/elbphilharmonie"],
      search_queries_used: [],
    },
  },
  {
    id: "cut-after-complete-source",
    family: "cut-after-report",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "The first ISBN was assigned in 1967 as the nine-digit SBN.",
  "metadata": {
    "sources_visited": ["https://www.isbn-international.org/content/what-isbn", "https://www.iso.org/standard/65483.html"`,
    expected: {
      success: true,
      report: "The first ISBN was assigned in 1967 as the nine-digit SBN.",
      sources_visited: [
        "https://www.isbn-international.org/content/what-isbn",
        "https://www.iso.org/standard/65483.html",
      ],
      search_queries_used: [],
    },
  },
  {
    id: "cut-in-query",
    family: "cut-after-report",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "富士山の標高は3,776mです。最高点は剣ヶ峰です。",
  "metadata": {
    "sources_visited": ["https://www.gsi.go.jp/kihonjohochousa/kihonjohochousa41139.html"],
    "search_queries_used": ["富士山 標高 国土地理院", "剣ヶ`,
    expected: {
      success: true,
      report: "富士山の標高は3,776mです。最高点は剣ヶ峰です。",
      sources_visited: ["https://www.gsi.go.jp/kihonjohochousa/kihonjohochousa41139.html"],
      search_queries_used: ["富士山 標高 国土地理院"],
    },
  },
  {
    id: "cut-before-closing-braces",
    family: "cut-after-report",
    schema: "search",
    output: String.raw`${FENCE}json
{"success": true, "report": "WebAssembly 2.0 became a W3C recommendation candidate in 2022.", "metadata": {"sources_visited": ["https://www.w3.org/TR/wasm-core-2/"], "search_queries_used": ["wasm 2.0 status"]`,
    expected: {
      success: true,
      report: "WebAssembly 2.0 became a W3C recommendation candidate in 2022.",
      sources_visited: ["https://www.w3.org/TR/wasm-core-2/"],
      search_queries_used: ["wasm 2.0 status"],
    },
  },
  {
    id: "cut-in-source-but-fence-closed",
    family: "cut-after-report",
    schema: "search",
    output: String.raw`${FENCE}json
{"success": true, "report": "The Eurovision Song Contest 2025 was won by JJ for Austria with \"Wasted Love\".", "metadata": {"sources_visited": ["https://eurovision.tv/event/basel-2025", "https://www.orf.at/stor
${FENCE}`,
    expected: {
      success: true,
      report: 'The Eurovision Song Contest 2025 was won by JJ for Austria with "Wasted Love".',
      sources_visited: ["https://eurovision.tv/event/basel-2025"],
      search_queries_used: [],
    },
  },
  {
    id: "cut-source-with-ellipsis",
    family: "cut-after-report",
    schema: "search",
    output: String.raw`{"success": true, "report": "Ein Marathon misst 42,195 km, seit 1921 verbindlich.", "metadata": {"sources_visited": ["https://worldathletics.org/disciplines/road-running/marathon", "https://www.olympics.com/de/news/war...`,
    expected: {
      success: true,
      report: "Ein Marathon misst 42,195 km, seit 1921 verbindlich.",
      sources_visited: ["https://worldathletics.org/disciplines/road-running/marathon"],
      search_queries_used: [],
    },
  },
  {
    id: "cut-in-escape-of-query",
    family: "cut-after-report",
    schema: "search",
    output: String.raw`{"success": true, "report": "S\u00e3o Paulo had 11.45 million inhabitants in the 2022 census.", "metadata": {"search_queries_used": ["census 2022 cities Brazil", "popula\u00e7`,
    expected: {
      success: true,
      report: "São Paulo had 11.45 million inhabitants in the 2022 census.",
      sources_visited: [],
      search_queries_used: ["census 2022 cities Brazil"],
    },
  },
  {
    id: "cut-with-fenced-code-in-report",
    family: "cut-after-report",
    schema: "search",
    output: String.raw`${FENCE}json
{
  "success": true,
  "report": "Use a lease:\n\n${FENCE}sql\nUPDATE runs SET owner = ? WHERE owner IS NULL RETURNING id;\n${FENCE}\n\nA crash frees nothing by itself.",
  "metadata": {
    "sources_visited": ["https://www.sqlite.org/lang_returning.html", "https://www.postgresql.org/docs/current/sql-upd`,
    expected: {
      success: true,
      report:
        "Use a lease:\n\n```sql\nUPDATE runs SET owner = ? WHERE owner IS NULL RETURNING id;\n```\n\nA crash frees nothing by itself.",
      sources_visited: ["https://www.sqlite.org/lang_returning.html"],
      search_queries_used: [],
    },
  },
  {
    id: "cut-in-wrapped-answer",
    family: "cut-after-report",
    schema: "search",
    output: String.raw`{"response": {"success": true, "report": "Bhutan is carbon negative by its own greenhouse gas inventory.", "metadata": {"sources_visited": ["https://unfccc.int/documents/Bhutan"], "search_queries_used": ["Bhutan carbon neg`,
    expected: {
      success: true,
      report: "Bhutan is carbon negative by its own greenhouse gas inventory.",
      sources_visited: ["https://unfccc.int/documents/Bhutan"],
      search_queries_used: [],
    },
  },
  {
    id: "cut-after-report-with-raw-lines",
    family: "cut-after-report",
    schema: "deep_search",
    output: String.raw`{
  "success": true,
  "verified": true,
  "report": "## Ergebnis

Der Mindestlohn beträgt seit 1. Januar 2025 **12,82 €** je Stunde.

## Beleg

- [BMAS](https://www.bmas.de/mindestlohn)",
  "metadata": {
    "sources_visited": ["https://www.bmas.de/mindestlohn", `,
    expected: {
      success: true,
      verified: true,
      report:
        "## Ergebnis\n\nDer Mindestlohn beträgt seit 1. Januar 2025 **12,82 €** je Stunde.\n\n## Beleg\n\n- [BMAS](https://www.bmas.de/mindestlohn)",
      sources_visited: ["https://www.bmas.de/mindestlohn"],
      search_queries_used: [],
    },
  },
];
