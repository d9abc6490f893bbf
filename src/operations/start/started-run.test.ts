/** What is said about a start whose outcome is unknown, by the operation on a real database. */

import { expect, test } from "vitest";
import { openApp } from "../../../test/kit/store/operation-deps.ts";
import { clock, openRunner, request } from "../../../test/kit/store/runner.ts";
import { AppError } from "../../errors.ts";
import type { StartOutcome } from "../../gemini/research-agent.ts";
import { adoptInteractionId } from "../../runs/interaction-store.ts";
import { currentOf } from "../../runs/conversation-store.ts";
import { startResearch } from "../../runs/start/start.ts";
import type { ResearchDeps } from "../../runs/deps.ts";
import type { OperationDeps } from "../operation.ts";
import { perform, questionFor } from "../perform.ts";
import { resumeResearch } from "../resume-research.ts";

/** The answer of a call that sends an unknown start again. */
async function restart(research: ResearchDeps, taskId: string): Promise<Record<string, unknown>> {
  const { db } = research;
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
  const input = { task_id: taskId, accept_possible_double_charge: true };
  const call = {
    owner: request.owner,
    client: undefined,
    from: "here" as const,
    signal: new AbortController().signal,
    progress: () => {},
  };
  const agreed = (await questionFor(resumeResearch, deps, { input, call }))?.subject;
  const { structured } = await perform(resumeResearch, deps, { input, call: { ...call, agreed } });
  return structured;
}

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
  const structured = await restart(research, taskId);
  expect(structured).toMatchObject({
    success: false,
    error: { code: "START_UNKNOWN", message: expect.stringContaining("not known whether the research was started") },
    status: "start_unknown",
  });
  // Each of the two starts has its own run.
  expect((await currentOf(db, request.owner, taskId)).interactionId).toBe("v1_first");
});

test("a restart that is withheld, because the first start became known, is never called one (Q1, I8)", async (context) => {
  const { store, deps: researchDeps } = await openRunner(context);
  const { db } = store;
  const hooks = { beforeSending: async (): Promise<unknown> => undefined };
  let sent = 0;
  const research = researchDeps({
    start: async ({ checkBeforeSending }) => {
      await hooks.beforeSending();
      const error = await checkBeforeSending();
      if (error !== undefined) return { kind: "withheld", error };
      sent += 1;
      return { kind: "unknown", why: "The connection broke." };
    },
  });
  const started = await startResearch(research, request);
  if (started.kind === "started") await started.sending;
  const { taskId } = started;
  hooks.beforeSending = async () => {
    const now = clock.now();
    await adoptInteractionId(db, { taskId, interactionId: "v1_first", deadlineAt: now + 60_000, now });
  };
  const { message, status } = await restart(research, taskId);
  expect([message, status]).toEqual([expect.stringMatching(/^Nothing was sent/), "running_async"]);
  expect(sent).toBe(1);
});

test("a restart that was refused while the database refused writes can be repeated at once (Q1, P5)", async (context) => {
  const stage = await openRunner(context);
  const refused: StartOutcome = {
    kind: "refused",
    status: 403,
    error: new AppError({ code: "GEMINI_UNAVAILABLE", message: "Google refuses the key." }),
  };
  const outcomes: StartOutcome[] = [
    { kind: "unknown", why: "The connection broke." },
    refused,
    { kind: "accepted", interactionId: "v1_again" },
  ];
  const research = stage.deps({
    start: async ({ checkBeforeSending }) => {
      await checkBeforeSending();
      const outcome = outcomes.shift() ?? refused;
      if (outcome === refused) await stage.refuseWrites();
      return outcome;
    },
  });
  const started = await startResearch(research, request);
  if (started.kind === "started") await started.sending;
  const { taskId } = started;
  expect(await restart(research, taskId)).toMatchObject({ success: false });
  expect(research.unchargedFailures.size).toBe(1);
  await stage.allowWrites();
  const again = await restart(research, taskId);
  expect(again).toMatchObject({ success: true, message: "The research was started again, as you requested." });
  expect(outcomes).toEqual([]);
});
