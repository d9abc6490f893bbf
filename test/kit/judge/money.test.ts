import { expect, test } from "vitest";
import { type Accounts, type JudgedRun, judgeMoney, type PaidStart, type Shown } from "./money.ts";
import { createUser } from "./decisions.ts";

const start = (id: string, run: string, more: Partial<PaidStart> = {}): PaidStart => ({
  id: `v1_${id}`,
  attempt: `attempt ${id}`,
  run,
  subject: run,
  status: "completed",
  text: `# Report ${id}`,
  isKnown: true,
  isCancelled: false,
  ...more,
});
const run = (task_id: string, status: string, parent: string | null = null): JudgedRun => ({
  task_id,
  status,
  parent_task_id: parent,
  carries_on: parent,
  query: parent ?? task_id,
});
const attempt = (id: string, task_id: string, isAnswered = true) => ({
  attempt_id: `attempt ${id}`,
  task_id,
  interaction_id: isAnswered ? `v1_${id}` : null,
});
const shown = (id: string, task_id: string, more: Partial<Shown> = {}): Shown => ({
  id: `v1_${id}`,
  task_id,
  text: `# Report ${id}`,
  isCancelRequested: false,
  isDropped: false,
  ...more,
});

const sound = (): Accounts => ({
  starts: [start("a", "a"), start("b", "b", { isKnown: false })],
  runs: [run("a", "completed"), run("b", "start_unknown"), run("c", "failed")],
  attempts: [attempt("a", "a"), attempt("b", "b", false), attempt("c", "c", false)],
  shown: [shown("a", "a")],
  returned: ["a", "b", "c"],
  decisions: ["a", "b", "c"].map((subject) => ({ subject, asks: 1 })),
  resumes: [],
  cancels: [],
});

const PLAN = { text: "1. Ask" };
const isPlan = { status: "completed", isPlan: true };
const isWorking = { status: "working", isPlan: false };

/** A plan and the research that the user approved in two windows: one run, or two of which one carries on the other. */
function approved(research: "d" | "e"): Accounts {
  const accounts = sound();
  accounts.starts.push(start("d", "d", PLAN), start("e", research, { subject: "plan v1_d" }));
  accounts.runs.push(run("d", "completed"), ...(research === "e" ? [run("e", "completed", "d")] : []));
  accounts.attempts.push(attempt("d", "d"), attempt("e", research));
  accounts.shown.push(shown("d", "d", PLAN), shown("e", research));
  accounts.decisions = [...accounts.decisions, { subject: "d", asks: 1 }, { subject: "plan v1_d", asks: 2 }];
  return accounts;
}

/** The first start was slow; the user sent it again, and the second one was the first to be answered. */
function startedTwice(): Accounts {
  const accounts = sound();
  accounts.starts.push(start("d", "a"));
  accounts.attempts.push(attempt("d", "d"));
  accounts.runs.push(run("d", "completed", "a"));
  accounts.shown.push(shown("d", "d"));
  accounts.decisions = [...accounts.decisions, { subject: "a", asks: 1 }];
  accounts.resumes = [{ taskId: "a", settled: 1 }];
  return accounts;
}

/** The research works, and the user cancels it by the id of its plan. */
function cancelled(research: "d" | "e"): Accounts {
  const accounts = approved(research);
  const { runs, starts, shown } = accounts;
  Object.assign(runs.find(({ task_id }) => task_id === research) ?? {}, { status: "cancelled" });
  Object.assign(starts.at(-1) ?? {}, { status: "cancelled", text: "", isCancelled: true });
  Object.assign(shown.at(-1) ?? {}, { text: "", isCancelRequested: true });
  const seen = [
    { id: "v1_d", ...isPlan },
    { id: "v1_e", ...isWorking },
  ];
  accounts.cancels = [{ taskId: "d", asked: 2, seen }];
  return accounts;
}

/** Of two runs of one question, the user cancels the one that had failed; the other works on. */
function cancelledAfterFailure(): Accounts {
  const accounts = startedTwice();
  Object.assign(accounts.starts.at(-1) ?? {}, { status: "failed", text: "" });
  Object.assign(accounts.runs.at(-1) ?? {}, { status: "failed" });
  const seen = [
    { id: "v1_a", ...isWorking },
    { id: "v1_d", status: "failed", isPlan: false },
  ];
  accounts.cancels = [{ taskId: "d", asked: 2, seen }];
  return accounts;
}

test.each<[string, () => Accounts]>([
  ["one start of each run", sound],
  ["a plan and its research in one run", () => approved("d")],
  ["a plan and its research in two runs", () => approved("e")],
  ["a late first answer in a run of its own", startedTwice],
  ["a cancel of a run that had failed", cancelledAfterFailure],
  ["a cancel of a run with its plan", () => cancelled("d")],
  ["a cancel through the id of the plan's own run", () => cancelled("e")],
])("the judge finds nothing in sound accounts of %s (I8)", (_what, accounts) => {
  expect(judgeMoney(accounts())).toEqual([]);
});

const DAMAGE: [string, () => Accounts, (accounts: Accounts) => void, string][] = [
  [
    "a doubled start",
    sound,
    ({ starts }) => void starts.push(start("2", "a", { attempt: "attempt a" })),
    "Attempt attempt a was started 2 times.",
  ],
  [
    "a start without a record",
    sound,
    ({ starts }) => void starts.push(start("2", "a", { attempt: "other" })),
    "Google accepted a start of attempt other, which is not recorded.",
  ],
  [
    "a start for another run",
    sound,
    ({ starts: [first] }) => void Object.assign(first ?? {}, { run: "c" }),
    "Attempt attempt a was started for another run.",
  ],
  [
    "an id of another interaction",
    sound,
    ({ attempts: [first] }) => void Object.assign(first ?? {}, { interaction_id: "v1_b" }),
    "Run a has an id that Google did not give it.",
  ],
  [
    "a paid run without an id",
    sound,
    ({ runs }) => void Object.assign(runs[1] ?? {}, { status: "failed" }),
    "Run b was paid for, has no id and is failed.",
  ],
  ["a lost run", sound, (accounts) => void (accounts.returned = ["gone"]), "Run gone was returned and is lost."],
  [
    "a second start without a decision",
    startedTwice,
    (accounts) => void (accounts.decisions = sound().decisions),
    "Google accepted 2 starts for 1 decisions about a.",
  ],
  [
    "a second start after one that failed, which the user did not ask for",
    startedTwice,
    (accounts) => {
      accounts.decisions = sound().decisions;
      Object.assign(accounts.starts[0] ?? {}, { status: "failed", text: "" });
    },
    "Google accepted 2 starts for 1 decisions about a.",
  ],
  [
    "a plan that two windows approve and that is paid for twice in two runs",
    () => approved("e"),
    ({ starts, runs, attempts, shown: all }) => {
      starts.push(start("f", "f", { subject: "plan v1_d" }));
      runs.push(run("f", "completed", "d"));
      attempts.push(attempt("f", "f"));
      all.push(shown("f", "f"));
    },
    "Google accepted 2 starts for 1 decisions about plan v1_d.",
  ],
  [
    "a late first answer that is only stored with its attempt",
    startedTwice,
    (accounts) => {
      accounts.runs.pop();
      accounts.shown.pop();
      Object.assign(accounts.attempts.at(-1) ?? {}, { task_id: "a" });
    },
    "The start v1_d of run a is paid for, and no run shows it.",
  ],
  [
    "an unknown start whose run does not say so",
    sound,
    ({ starts, attempts }) => {
      starts.push(start("d", "a", { isKnown: false }));
      attempts.push(attempt("d", "a", false));
    },
    "The start v1_d of run a is paid for, and no run shows it.",
  ],
  [
    "a report that Google has and a failed run does not show",
    sound,
    (accounts) => {
      Object.assign(accounts.runs[0] ?? {}, { status: "failed" });
      Object.assign(accounts.shown[0] ?? {}, { text: "" });
    },
    "Google has a text of v1_a that run a does not show.",
  ],
  [
    "a plan that its research has replaced",
    () => approved("d"),
    (accounts) => void accounts.shown.splice(1, 1),
    "The start v1_d of run d is paid for, and no run shows it.",
  ],
  [
    "a cancel of a plan that leaves its research working",
    () => cancelled("e"),
    ({ starts, shown: all }) => {
      Object.assign(starts.at(-1) ?? {}, { isCancelled: false });
      Object.assign(all.at(-1) ?? {}, { isCancelRequested: false });
    },
    "The cancel of d did not reach v1_e.",
  ],
];

test.each(DAMAGE)("the judge notices %s (I8)", (_what, accountsOf, damage, sentence) => {
  const accounts = accountsOf();
  damage(accounts);
  expect(judgeMoney(accounts)).toContain(sentence);
});

test.each([
  ["waits for its answer", false, [1, 1]],
  ["was answered before", true, [2]],
])("a second request for a question whose run is cancelled, which %s", async (_, isAnswered, asks) => {
  const user = createUser(() => []);
  user.ask("a").answered();
  const second = user.ask("a");
  if (isAnswered) second.answered();
  await user.cancelling({ taskId: "1", query: "a" }, async () => true);
  expect(user.decisions).toEqual(asks.map((count) => ({ subject: "a", asks: count })));
});
