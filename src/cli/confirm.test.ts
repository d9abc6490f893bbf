import { describe, expect, test } from "vitest";
import { questionAbout, saysYes } from "./confirm.ts";

describe("the answer at the terminal", () => {
  test.each(["y", "Y", "yes", "YES", " yes ", "y\r"])("%j is a yes", (answer) => {
    expect(saysYes(answer)).toBe(true);
  });

  test.each(["", " ", "n", "no", "yess", "ye", "yn", "ja", "1", "true", "y y", "\u0004"])("%j is a no", (answer) => {
    expect(saysYes(answer)).toBe(false);
  });
});

const run = { taskId: "0b9d3c1e-0000-4000-8000-000000000001", query: "How deep\nis the lake?" };

test("the delete prompt names the run by its question, and says if it is stopped first (T-2)", () => {
  expect(questionAbout({ ...run, status: "completed" })).toBe('Delete run 0b9d3c1e "How deep is the lake?"');
  expect(questionAbout({ ...run, status: "running_async" })).toBe(
    'Cancel and delete run 0b9d3c1e "How deep is the lake?"',
  );
  expect(questionAbout({ ...run, query: "deep ".repeat(100), status: "failed" }).length).toBeLessThan(90);
});
