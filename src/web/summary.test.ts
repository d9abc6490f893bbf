import { expect, test } from "vitest";
import type { RunKind, RunStatus } from "../runs/run.ts";
import { actionsFor } from "./summary.ts";

test.for<[RunKind, RunStatus, { interactionId?: string; hasText?: boolean }, string[]]>([
  ["agent", "pending", {}, ["cancel"]],
  ["agent", "running_async", { interactionId: "v1" }, ["cancel"]],
  ["agent", "start_unknown", {}, ["adopt", "restart", "cancel"]],
  ["agent", "failed", { interactionId: "v1" }, ["look_again"]],
  ["agent", "failed", {}, []],
  ["agent", "cancelled", { interactionId: "v1", hasText: true }, []],
  ["agent", "completed", { interactionId: "v1", hasText: true }, []],
  ["deep_search", "running", {}, ["cancel"]],
  ["deep_search", "failed", { hasText: true }, ["continue"]],
  ["deep_search", "cancelled", { hasText: true }, ["continue"]],
  ["deep_search", "failed", {}, []],
  ["search", "failed", { hasText: true }, []],
])("Q1 L1 what can be done about %s, %s, %j", ([kind, status, { interactionId, hasText = false }, actions]) => {
  expect(actionsFor({ kind, status, interactionId }, { hasText })).toEqual(actions);
});
