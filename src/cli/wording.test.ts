import { expect, test } from "vitest";
import { failureView } from "./render/failure-view.ts";
import { aboutField, forPeople } from "./wording.ts";

const ID = "3f2a9c1e-0000-4000-8000-000000000000";

test.each([
  ["resume_research checks again.", "gemini-search-mcp resume checks again."],
  ["Pass it as interaction_id.", "Pass it as interaction id."],
  ["set accept_possible_double_charge", "set --accept-possible-double-charge"],
  [
    "Archive it when it has ended, or cancel it first.",
    "Archive it when it has ended, or stop it first: gemini-search-mcp stop.",
  ],
  [
    "Use section outline to see them with their titles, or section all.",
    "Use --section outline to see them with their titles, or --section all.",
  ],
  ["under the same task_id", "under the same run id"],
  [`Searching the web (task_id ${ID})`, "Searching the web (3f2a9c1e)"],
  [
    "a search with a limit, in research_reports and deep_research_x",
    "a search with a limit, in research_reports and deep_research_x",
  ],
])("%j is shown as %j", (text, shown) => {
  expect(forPeople(text)).toBe(shown);
});

test("a message about a field names what was typed", () => {
  expect(aboutField("query must not be empty.", "query")).toBe("The question must not be empty.");
  expect(aboutField("limit must be a whole number.", "limit")).toBe("--limit must be a whole number.");
  expect(aboutField("title must have at most 200 characters.", "title")).toBe(
    "The title must have at most 200 characters.",
  );
  expect(aboutField("since must not be after until.", "since")).toBe("--since must not be after --until.");
  expect(aboutField("This report has no such section.", "section")).toBe("This report has no such section.");
});

test("the error about a plan that waits names the commands that read and approve it (V2)", () => {
  const text = failureView(
    {
      structured: {
        success: false,
        error: {
          code: "RESEARCH_NOT_COMPLETED",
          message: "This run has no report yet: its plan waits for approval.",
          suggestion: undefined,
          details: undefined,
        },
        task_id: ID,
        status: "awaiting_approval",
      },
      advice: { next: [{ do: "read" }, { do: "approve" }] },
    },
    { isTerminal: true },
  );
  expect(text.split("\n").slice(1)).toEqual([
    "Read it:  gemini-search-mcp show 3f2a9c1e",
    "Start it: gemini-search-mcp approve 3f2a9c1e",
  ]);
});
