import { expect, test } from "vitest";
import { aboutField, forPeople } from "./wording.ts";

const ID = "3f2a9c1e-0000-4000-8000-000000000000";

test.each([
  ["resume_research checks again.", "gemini-search-mcp resume checks again."],
  ["Pass it as interaction_id.", "Pass it as interaction id."],
  ["set accept_possible_double_charge", "set --accept-possible-double-charge"],
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
  expect(aboutField("This report has no such section.", "section")).toBe("This report has no such section.");
});
