import { expect, test } from "vitest";
import { type Accounts, judgeMoney } from "./money.ts";

const sound = (): Accounts => ({
  starts: [
    { id: "v1_a", attempt: "attempt a", run: "a" },
    { id: "v1_b", attempt: "attempt b", run: "b" },
  ],
  runs: [
    { task_id: "a", status: "completed", parent_task_id: null },
    { task_id: "b", status: "start_unknown", parent_task_id: null },
    { task_id: "c", status: "failed", parent_task_id: null },
  ],
  attempts: [
    { attempt_id: "attempt a", task_id: "a", interaction_id: "v1_a" },
    { attempt_id: "attempt b", task_id: "b", interaction_id: null },
    { attempt_id: "attempt c", task_id: "c", interaction_id: null },
  ],
  returned: ["a", "b", "c"],
  resumed: new Set(),
});

test("the judge finds nothing in sound accounts (I8)", () => {
  expect(judgeMoney(sound())).toEqual([]);
});

test("the second interaction of a run that was started twice may belong to a run of its own (I8)", () => {
  const { starts, runs, attempts, ...rest } = sound();
  starts.push({ id: "v1_d", attempt: "attempt d", run: "a" });
  runs.push({ task_id: "d", status: "completed", parent_task_id: "a" });
  attempts.push({ attempt_id: "attempt d", task_id: "d", interaction_id: "v1_d" });
  expect(judgeMoney({ starts, runs, attempts, ...rest })).toEqual([]);
});

test.each<[string, (accounts: Accounts) => void, string]>([
  [
    "a doubled start",
    ({ starts }) => void starts.push({ id: "v1_2", attempt: "attempt a", run: "a" }),
    "Attempt attempt a was started 2 times.",
  ],
  [
    "a start without a record",
    ({ starts }) => void starts.push({ id: "v1_2", attempt: "other", run: "a" }),
    "Google accepted a start of attempt other, which is not recorded.",
  ],
  [
    "a start for another run",
    ({ starts: [start] }) => void Object.assign(start ?? {}, { run: "c" }),
    "Attempt attempt a was started for another run.",
  ],
  [
    "a second attempt without consent",
    ({ attempts }) => void attempts.push({ attempt_id: "another", task_id: "c", interaction_id: null }),
    "Run c has 2 attempts.",
  ],
  [
    "an id of another interaction",
    ({ attempts: [attempt] }) => void Object.assign(attempt ?? {}, { interaction_id: "v1_b" }),
    "Run a has an id that Google did not give it.",
  ],
  [
    "a paid run without an id",
    ({ runs }) => void Object.assign(runs[1] ?? {}, { status: "failed" }),
    "Run b was paid for, has no id and is failed.",
  ],
  ["a lost run", (accounts) => void (accounts.returned = ["gone"]), "Run gone was returned and is lost."],
])("the judge notices %s (I8)", (_what, damage, sentence) => {
  const accounts = sound();
  damage(accounts);
  expect(judgeMoney(accounts)).toContain(sentence);
});
