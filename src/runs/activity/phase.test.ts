import { expect, test } from "vitest";
import { agentPhase, headingOf } from "./activity.ts";

const NONE = { thought: undefined, search: undefined, source: undefined, phase: undefined };

test.each([
  ["Planning", {}],
  ["Researching", { thought: 1 }],
  ["Searching", { thought: 9, search: 8 }],
  ["Searching", { thought: 9, search: 8, source: 4 }],
  ["Reading", { thought: 9, search: 7, source: 8 }],
  ["Reading", { source: 1 }],
  ["Writing", { thought: 9, search: 6, source: 7, phase: 8 }],
  // Citations come while the report is written.
  ["Writing", { search: 6, source: 12, phase: 8 }],
  // An interim text before further searches is not the report.
  ["Searching", { search: 12, source: 7, phase: 8 }],
  ["Writing", { phase: 1 }],
])("the phase is %s after %o (J3)", (phase, last) => {
  expect(agentPhase({ ...NONE, ...last })).toBe(phase);
});

test("a thought is shown by its heading, in one line of at most 80 characters (U2)", () => {
  expect(headingOf("\n\n**Reading about lakes**\n\nBaikal holds a fifth.")).toBe("Reading about lakes");
  expect(headingOf("## Lakes")).toBe("Lakes");
  expect(headingOf("x".repeat(90))).toBe(`${"x".repeat(80)}…`);
});
