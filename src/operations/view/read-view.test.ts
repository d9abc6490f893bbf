import { expect, test } from "vitest";
import type { RunKind, RunStatus } from "../../runs/run.ts";
import { actionsFor } from "./read-view.ts";

test.for<[RunKind, RunStatus, { interactionId?: string; hasText?: boolean }, string[]]>([
  ["agent", "pending", {}, ["cancel"]],
  ["agent", "running_async", { interactionId: "v1" }, ["cancel"]],
  ["agent", "start_unknown", {}, ["adopt", "restart", "cancel"]],
  ["agent", "failed", { interactionId: "v1" }, ["poll_again", "delete"]],
  ["agent", "failed", {}, ["delete"]],
  ["agent", "cancelled", { interactionId: "v1", hasText: true }, ["delete"]],
  ["agent", "completed", { interactionId: "v1", hasText: true }, ["delete"]],
  ["deep_search", "running", {}, ["cancel"]],
  ["deep_search", "failed", { hasText: true }, ["continue", "delete"]],
  ["deep_search", "cancelled", { hasText: true }, ["continue", "delete"]],
  ["deep_search", "failed", {}, ["delete"]],
  ["search", "failed", { hasText: true }, ["delete"]],
])(
  "the actions for %s, %s, %j are those of its state (Q1, L1)",
  ([kind, status, { interactionId, hasText = false }, actions]) => {
    expect(actionsFor({ kind, status, interactionId }, { hasText })).toEqual(actions);
  },
);
