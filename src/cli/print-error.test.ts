import { expect, test } from "vitest";
import { AppError } from "../errors.ts";
import { queryField } from "../operations/operation.ts";
import { failureOf, parseInput } from "../operations/perform.ts";
import { withWishes } from "../operations/question/wishes.ts";
import { failureView } from "./print-error.ts";

const ID = "3f2a9c1e-0000-4000-8000-000000000000";

/** What is printed about input that an operation refuses. */
function refusal(input: Record<string, unknown>): string {
  try {
    parseInput(withWishes({ query: queryField("query") }), input);
    return "";
  } catch (error) {
    return error instanceof AppError ? failureView(failureOf(error), { width: 80 }) : String(error);
  }
}

test("a message about a parameter names what was typed", () => {
  expect(refusal({ query: " " })).toBe("The question must not be empty.");
  expect(refusal({ query: "Lake?", length: "tiny" })).toMatch(/^--length must be short, medium/);
  expect(refusal({ query: "Lake?", since: "2026", until: "2025" })).toBe("--since must not be after --until.");
  expect(refusal({ query: "Lake?", prefer_domains: ["a.org"], avoid_domains: ["a.org"] })).toBe(
    "A domain cannot be both in --prefer-domains and in --avoid-domains.",
  );
});

test("the error about a plan that waits names the commands that read and approve it (V2)", () => {
  const error = new AppError({
    code: "RESEARCH_NOT_COMPLETED",
    message: "This run has no report yet: its plan waits for approval.",
    next: [{ do: "read" }, { do: "approve" }],
    run: { task_id: ID, status: "awaiting_approval" },
  });
  expect(failureView(failureOf(error), { width: 80 }).split("\n").slice(1)).toEqual([
    "Read it:  gemini-search-mcp show 3f2a9c1e",
    "Start it: gemini-search-mcp approve 3f2a9c1e",
  ]);
  expect(failureView(failureOf(error), { width: 40 }).split("\n").slice(1)).toEqual([
    "Read it:",
    "  gemini-search-mcp show 3f2a9c1e",
    "Start it:",
    "  gemini-search-mcp approve 3f2a9c1e",
  ]);
});
