import { expect, test } from "vitest";
import { usualMinutes } from "./run-estimate.ts";

const MAX_AGENT = "deep-research-max-preview-04-2026";

test.each([
  ["an estimate", { kind: "agent", estimate: { minutes: { likely: 6, max: 15 } }, model: MAX_AGENT }, [6, 15]],
  ["half an estimate", { kind: "agent", estimate: { minutes: { likely: 6 } }, model: MAX_AGENT }, [6, 12]],
  ["a contradictory estimate", { kind: "agent", estimate: { minutes: { likely: 6, max: 1 } }, model: "" }, [6, 6]],
  ["an unreadable estimate", { kind: "agent", estimate: { minutes: "soon" }, model: MAX_AGENT }, [20, 40]],
  ["a search", { kind: "search", estimate: {}, model: undefined }, [1, 2]],
  ["a deep search", { kind: "deep_search", estimate: {}, model: undefined }, [4, 10]],
] as const)("the usual minutes of a run with %s (J2)", (_name, run, [likely, max]) => {
  expect(usualMinutes(run)).toEqual({ likely, max });
});
