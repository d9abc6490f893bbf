/** Text that must survive extraction: LaTeX, and reports with fields that were not requested. */

import { describe, expect, test } from "vitest";
import { QUOTED_REFUSALS } from "../../test/corpus/quoted-refusals.ts";
import { extractJsonFromOutput, reportSoFar } from "./extract-json.ts";
import { SEARCH_SCHEMA } from "./schemas.ts";
import { MAX_PROCESSOR_MS, processorMs } from "../../test/kit/clock/time-limits.ts";

const read = (output: string) => extractJsonFromOutput(output, SEARCH_SCHEMA);

function reportOf(output: string): string | undefined {
  const extraction = read(output);
  return extraction.kind === "valid" ? extraction.answer.report : `${extraction.reason}!`;
}

const LATEX = String.raw`Let $\frac{a}{b}$, $\beta$, $\text{rate}$, $\nabla f \neq 0$, $x \ne y$, $\rho \to \theta$ and $\boxed{\nu}$.`;

describe.each([
  // Written by a model that does not escape.
  ["naive", LATEX],
  ["sound", JSON.stringify(LATEX).slice(1, -1)],
])("LaTeX in %s JSON", (_, written) => {
  const wanted = `# Result\n\n${LATEX}\nEnd`;
  const body = String.raw`# Result\n\n${written}\nEnd`;

  test.each([
    ["in valid JSON", `{"success": true, "report": "${body}", "metadata": {}}`],
    ["after a repair", `{"success": true, "report": "${body}", "metadata": {"sources_visited": [],},}`],
    ["with stray quotes", `{"success": true, "report": "${body.replace("Result", 'The "Result"')}", "metadata": {}}`],
    ["without its first bracket", `"success": true, "report": "${body}", "metadata": {}}`],
    ["in a fence", `\`\`\`json\n{"success": true, "report": "${body}"}\n\`\`\``],
  ])("keeps its backslashes %s (D7)", (_name, output) => {
    expect(reportOf(output)).toBe(output.includes("The ") ? wanted.replace("Result", 'The "Result"') : wanted);
  });
});

test("an answer written as a string inside an answer keeps LaTeX (D7)", () => {
  const inner = String.raw`{"success": true, "report": "$\frac{1}{2}$ of $\beta$"}`;
  expect(reportOf(JSON.stringify({ answer: inner }))).toBe(String.raw`$\frac{1}{2}$ of $\beta$`);
  expect(reportOf(inner.replaceAll('"', '\\"'))).toBe(String.raw`$\frac{1}{2}$ of $\beta$`);
});

test("line breaks and tabs are kept (D7)", () => {
  const report = "a\tb\ntable\nnew line\neg this\nu weet\ne poi\r\ntext\ttop secret\nnot";
  expect(reportOf(JSON.stringify({ success: true, report }))).toBe(report);
});

test("no extraction path makes a control character of LaTeX (D7)", () => {
  const commands = ["frac", "beta", "forall", "bar", "binom", "flat", "text", "times", "rho", "right", "nabla", "neq"];
  const formula = commands.map((name) => `\\${name}`).join(" ");
  const whole = `{"success": true, "report": "$${formula}$", "metadata": {}}`;
  for (const output of [whole, whole.slice(0, -1), whole.replace("true,", "true"), whole.replaceAll('"', "'")]) {
    expect(reportOf(output), output).toBe(`$${formula}$`);
  }
});

describe("an unrequested field after the report", () => {
  const REPORT = 'It said "yes" to both.';
  const damaged = (fields: string): string => `{"success": true, "report": "${REPORT}"${fields}`;

  test.each([
    [', "confidence": 0.9}'],
    [', "confidence": "high", "notes": "None so far.",\n}'],
    ['\n  "confidence": 0.9\n}\n```'],
    [', "tags": ["a", "b"], "scores": {"x": 1}}'],
    [', "confidence": 0.9, "metadata": {"sources_visited": ["https://a.example/"]}}'],
  ])("does not make a complete answer truncated: %s (D5)", (fields) => {
    expect(reportOf(damaged(fields))).toBe(REPORT);
  });

  test.each([[', "notes": "it goes'], [' and then {"a": "x", "b": 2}'], [", said one. The other"]])(
    "does not make a truncated answer complete: %s (D5)",
    (fields) => {
      expect(read(damaged(fields))).toMatchObject({ kind: "invalid", reason: "cut" });
    },
  );
});

test("a damaged answer in which any quote could be the end of a string does not block the process (T15)", () => {
  const output = `{"success": true, "report": ${"'x'y".repeat(6_000)}, "metadata": {"sources_visited": ["a", ${'\\"x'.repeat(20_000)}]}`;
  expect(processorMs(() => read(output))).toBeLessThan(MAX_PROCESSOR_MS);
});

test("a source of megabytes in a damaged answer exceeds no stack (T15)", () => {
  const output = `{"success": true, "report": "It "is".", "metadata": {"sources_visited": ["${"a".repeat(10_000_000)}"], x}}`;
  expect(read(output)).toMatchObject({ answer: { report: 'It "is".' } });
});

test("the sources of a damaged answer are read up to a string without an end (D5)", () => {
  const output = `{"success": true, "report": "It "is".", "metadata": {"sources_visited": ["https://a.example/", 'https://b.example/', 'https://c`;
  expect(read(output)).toMatchObject({
    answer: { metadata: { sources_visited: ["https://a.example/", "https://b.example/"] } },
  });
});

test.each(QUOTED_REFUSALS.map(({ id, output }) => [id, output]))(
  "%s is kept whole for the correction (D2, E6)",
  (_, output) => {
    expect(read(output)).toEqual({
      kind: "invalid",
      reason: expect.stringMatching(/no_json|schema/),
      bestText: output,
    });
  },
);

test("text that ends inside a quoted answer is kept whole (D2, D5)", () => {
  const text = `${"The tool writes one object per call. ".repeat(9)}It begins: {"success": true, "report": "the text`;
  expect(read(text)).toMatchObject({ kind: "invalid", reason: "cut", bestText: text, report: undefined });
});

const NARRATION = "I will now search for the height of the bridge and read what its operator says about it.\n\n".repeat(
  10,
);

test.each([["valid", ""] as const, ["damaged", 'It is "high". '] as const])(
  "a %s answer that lists its sources counts after longer notes between searches (D2, E6)",
  (_, quote) => {
    const report = `${quote}${"The bridge is 214 m high. ".repeat(25)}`;
    const output = `${NARRATION}{"success": true, "report": "${report}", "metadata": {"sources_visited": ["https://a.example/"]}}`;
    expect(reportOf(output)).toBe(report);
  },
);

test("a draft that lists its sources is shown after notes between searches (D2)", () => {
  const report = "The bridge is 214 m high. ".repeat(40);
  const draft = `${NARRATION}{"success": true, "report": "${report}", "metadata": {"sources_visited": ["https://a.example/"]}} ${NARRATION}`;
  expect(reportSoFar(draft)).toBe(report);
});
