import { expect, test } from "vitest";
import { unpainted } from "../paint.ts";
import { followupView } from "./run-views.ts";

const NOW = Date.parse("2026-11-16T12:00:00Z");

test.each([
  ["2026-11-16T11:59:30.000Z", "less than a minute ago"],
  ["2026-11-16T11:59:00.000Z", "a minute ago"],
  ["2026-11-16T11:30:00.000Z", "30 minutes ago"],
  ["2026-11-16T11:00:00.000Z", "an hour ago"],
  ["2026-11-13T11:00:00.000Z", "3 days ago"],
])("a table of %s was asked for %s at a terminal, and at that time for scripts (V5)", async (time, ago) => {
  const answer = {
    success: true,
    results: undefined,
    task_id: "3f2a9c1e-0000-4000-8000-000000000000",
    status: "running_async" as const,
    mode: "async",
    parent_task_id: "0b9d3c1e-0000-4000-8000-000000000000",
    context: "stored_report" as const,
    message: "",
    check_status_command: "",
    joined: true,
    notice: `This table was asked for at ${time}.`,
  };
  const space = { paint: unpainted, now: NOW, stored: async () => undefined };
  expect(await followupView(answer, { ...space, width: 100 })).toContain(
    `This table was asked for ${ago}. Run 3f2a9c1e`,
  );
  expect(await followupView(answer, { ...space, width: undefined })).toContain(`at ${time}. Run 3f2a9c1e-`);
});
