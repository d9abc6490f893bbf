import { expect, test } from "vitest";
import type { RunCardAnswer } from "../../wire.ts";
import { followRun } from "./follow-run.ts";

type Step = string | Error;

/** Follows a run that answers with these statuses or errors, in this order. */
async function follow(steps: Step[], stopAfter = Infinity) {
  const inputs: object[] = [];
  const pauses: number[] = [];
  const problems: unknown[] = [];
  const stop = new AbortController();
  await followRun(
    { query: "How deep is the lake?" },
    {
      read: async (input) => {
        inputs.push(input);
        const step = steps.shift();
        if (step === undefined) throw new Error("It was read once too often.");
        if (typeof step !== "string") throw step;
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only these fields are used
        return { task_id: "7", cursor: `${inputs.length}-0-${step}`, run: { status: step } } as RunCardAnswer;
      },
      onView: () => {
        if (inputs.length >= stopAfter) stop.abort();
      },
      onProblem: (problem) => problems.push(problem),
      sleep: async (ms) => void pauses.push(ms),
      signal: stop.signal,
    },
  );
  return { inputs, pauses, problems };
}

test("the card waits with the last cursor until the run ends, and then reads nothing more (Y2)", async () => {
  const { inputs, pauses } = await follow(["pending", "running_async", "completed"]);
  expect(inputs).toEqual([
    { query: "How deep is the lake?" },
    { task_id: "7", cursor: "1-0-pending", wait_seconds: 20 },
    { task_id: "7", cursor: "2-0-running_async", wait_seconds: 20 },
  ]);
  expect(pauses).toEqual([1_000, 1_000]);
});

test("errors are retried with growing pauses, and a run that waits for the user is read rarely (Y2)", async () => {
  const down = new Error("down");
  const { pauses, problems } = await follow([down, down, down, down, down, down, "awaiting_approval", "failed"]);
  expect(problems).toHaveLength(6);
  expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 10_000]);
});

test("a card that was removed reads nothing more (Y2)", async () => {
  expect((await follow(["running_async", "running_async"], 1)).inputs).toHaveLength(1);
});
