/** Answers that were cut inside the report: usable as a fallback text (E6), but never as a result (D5). */

import { FENCE, type CorpusCase } from "./corpus-case.ts";

const cut = (id: string, output: string, why?: string): CorpusCase => ({
  id,
  family: "cut-in-report",
  schema: "search",
  output,
  expected: null,
  ...(why === undefined ? {} : { why }),
});

export const CUT_IN_REPORT: readonly CorpusCase[] = [
  cut(
    "cut-in-report-fenced",
    String.raw`${FENCE}json
{
  "success": true,
  "report": "# Solid-state batteries\n\nToyota plans to bring cells with a sulphide electrolyte to market in 2027 or 2028. Samsung SDI has announced mass production for 2027. The remaining obst`,
  ),
  cut(
    "cut-in-report-raw",
    String.raw`{"success": true, "report": "Der Euro wurde am 1. Januar 1999 als Buchgeld einge`,
  ),
  cut(
    "cut-in-report-after-sentence",
    String.raw`{"success": true, "report": "The treaty was signed in 1992. It came into force in 1993.`,
    "It ends with a full sentence, but it may not be the last one.",
  ),
  cut(
    "cut-in-report-but-fence-closed",
    String.raw`${FENCE}json
{"success": true, "report": "The three largest producers of cobalt are the DR Congo, Indonesia and
${FENCE}`,
  ),
  cut(
    "cut-in-report-fence-and-prose",
    String.raw`${FENCE}json
{"success": true, "report": "The court held that the clause was void because
${FENCE}

I have reached the limit of my answer. Say "continue" and I will go on.`,
  ),
  cut(
    "cut-in-report-in-escape",
    String.raw`{"success": true, "report": "In M\u00fcnchen liegt der Mietspiegel bei 14,58 \u20`,
  ),
  cut(
    "cut-in-report-after-backslash",
    '{"success": true, "report": "First finding.\\n\\nSecond finding: the so-called \\',
  ),
  cut(
    "cut-in-report-metadata-first",
    String.raw`${FENCE}json
{
  "success": true,
  "metadata": { "sources_visited": ["https://www.who.int/news-room/fact-sheets/detail/malaria"], "search_queries_used": ["malaria deaths 2023"] },
  "report": "Malaria killed an estimated 597,000 people in 2023. Children under five accounted for`,
  ),
  {
    id: "cut-in-report-deep",
    family: "cut-in-report",
    schema: "deep_search",
    output: String.raw`{"success": true, "verified": true, "report": "検証の結果、主張の大部分は裏付けられました。ただし、2023年の数値については`,
    expected: null,
  },
  cut(
    "cut-in-report-inside-code",
    String.raw`${FENCE}json
{
  "success": true,
  "report": "Run the following:\n\n${FENCE}bash\nkubectl rollout status deploy/web\nkubectl get po`,
  ),
  cut(
    "cut-in-report-after-quoted-answer",
    String.raw`${FENCE}json
{"success": true, "report": "The health route answers {\"success\": true, \"report\": \"pong\", \"metadata\": {\"sources_visited\": [], \"search_queries_used\": []}} and after that the clie`,
    "The object inside the report is whole, but it is quoted material.",
  ),
  cut(
    "cut-in-report-after-quoted-json-block",
    String.raw`${FENCE}json
{"success": true, "report": "The route answers:\n\n${FENCE}json\n{\"success\": true, \"report\": \"pong\"}\n${FENCE}\n\nand nothing el`,
    "The same with a fence of its own inside the report.",
  ),
  cut(
    "cut-in-report-doubly-escaped",
    String.raw`"{\"success\": true, \"report\": \"# Findings\\n\\nThe merger was cleared in phase II after the parties off`,
  ),
  cut("cut-in-report-wrapped", String.raw`{"response": {"success": true, "report": "Oil fell below 60 dollars on`),
  cut(
    "cut-in-report-single-quotes",
    String.raw`{'success': True, 'report': 'The bridge was closed in 2021 after inspectors found a crack in a tie girder. Reope`,
  ),
  cut(
    "cut-in-report-smart-quotes",
    String.raw`{“success”: true, “report”: “The vaccine was approved in the EU in June 2024 for adults over 65 and`,
  ),
  cut(
    "cut-in-report-entities",
    String.raw`{&quot;success&quot;: true, &quot;report&quot;: &quot;The comet passed perihelion on 27 September and was vis`,
  ),
  cut(
    "cut-in-report-raw-lines",
    String.raw`{
  "success": true,
  "report": "## Summary

| Year | Cases |
|---|---|
| 2022 | 1,204 |
| 2023 | 9`,
  ),
  cut(
    "cut-in-report-at-its-start",
    String.raw`${FENCE}json
{
  "success": true,
  "report": "`,
  ),
  cut(
    "cut-before-report",
    String.raw`${FENCE}json
{
  "success": true,
  "repo`,
  ),
  {
    id: "cut-before-verified",
    family: "cut-in-report",
    schema: "deep_search",
    output: String.raw`{"success": true, "report": "All three claims are supported by the annual reports.", "metadata": {"sources_visited": ["https://www.sec.gov/edgar"], "search_queries_used": ["10-K 2024"]}, "veri`,
    expected: null,
    why: "The report is whole, but whether it was verified is not known (D2).",
  },
  cut(
    "cut-before-success",
    String.raw`{"report": "Graphene conducts heat at up to 5,000 W/mK.", "metadata": {"sources_visited": [], "search_quer`,
    "The report is complete, but the success field is missing (D2).",
  ),
];
