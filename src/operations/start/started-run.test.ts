/** What is said about a start whose outcome is unknown, by the operation on a real database. */

import { expect, test } from "vitest";
import { openApp } from "../../../test/kit/store/operation-deps.ts";
import { clock, openRunner, request } from "../../../test/kit/store/runner.ts";
import { adoptInteractionId } from "../../runs/interaction-store.ts";
import { currentOf } from "../../runs/conversation-store.ts";
import { startResearch } from "../../runs/start/start.ts";
import type { OperationDeps } from "../operation.ts";
import { perform } from "../perform.ts";
import { resumeResearch } from "../resume-research.ts";

test("a second start with unknown outcome is never called unsent, although the first one was adopted meanwhile (Q1, I8)", async (context) => {
  const { store, deps: researchDeps } = await openRunner(context);
  const { db } = store;
  const hooks = { onSent: async (): Promise<unknown> => undefined };
  const research = researchDeps({
    start: async ({ checkBeforeSending }) => {
      await checkBeforeSending();
      await hooks.onSent();
      return { kind: "unknown", why: "The connection broke." };
    },
  });
  const started = await startResearch(research, request);
  if (started.kind === "started") await started.sending;
  const { taskId } = started;
  hooks.onSent = async () => {
    const now = clock.now();
    await adoptInteractionId(db, { taskId, interactionId: "v1_first", deadlineAt: now + 60_000, now });
  };
  const runner = { start: () => {}, wake: () => {}, watch: () => () => {} };
  const app = openApp().deps;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that the operation asks for
  const deps = {
    ...app,
    clock,
    database: async () => db,
    agent: async () => research.agent,
    findRun: (owner: string, id: string) => currentOf(db, owner, id),
    research: async () => ({ research, runner, obstacle: async () => undefined }),
    estimate: async () => ({ usd: { min: 0.1, likely: 0.1, max: 0.2 }, agent: "an-agent" }),
    settings: { ...app.settings, confirmAboveUsd: 5 },
  } as unknown as OperationDeps;
  const { structured } = await perform(resumeResearch, deps, {
    input: { task_id: taskId, accept_possible_double_charge: true },
    call: {
      owner: request.owner,
      client: undefined,
      from: "here",
      signal: new AbortController().signal,
      progress: () => {},
    },
  });
  expect(structured).toMatchObject({
    success: false,
    error: { code: "START_UNKNOWN", message: expect.stringContaining("not known whether the research was started") },
    status: "start_unknown",
  });
  // Each of the two starts has its own run.
  expect((await currentOf(db, request.owner, taskId)).interactionId).toBe("v1_first");
});
