/** The question before a run is deleted. */

import { expect, test } from "vitest";
import { questionAbout } from "./delete-run.ts";

const run = { taskId: "0b9d3c1e-0000-4000-8000-000000000001", query: "How deep\nis the lake?" };

test("the delete prompt names the run by its question, and says if it is stopped first (T-2)", () => {
  expect(questionAbout({ ...run, status: "completed" })).toBe('Delete run 0b9d3c1e "How deep is the lake?"');
  expect(questionAbout({ ...run, status: "running_async" })).toBe(
    'Stop and delete run 0b9d3c1e "How deep is the lake?"',
  );
  expect(questionAbout({ ...run, query: "deep ".repeat(100), status: "failed" }).length).toBeLessThan(90);
});
