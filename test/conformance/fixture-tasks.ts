/** Tasks of the fixtures, in memory: each is the blocking call of its fixture, repeated with the user's responses. */

import { isInputRequiredResult, ProtocolError } from "@modelcontextprotocol/server";
import { isTerminal, type TaskSource, type TaskState } from "../../src/mcp/tasks/task-source.ts";
import { failedWith, type Fixture, type FixtureCall, textResult } from "./fixture.ts";

interface FixtureTask {
  owner: string;
  state: TaskState;
  answer: (answers: Record<string, unknown>) => void;
  cancel: () => void;
}

type Head = Pick<TaskState, "taskId" | "createdAt" | "updatedAt" | "ttlMs" | "pollMs" | "message">;
type StateChange<State = TaskState> = State extends TaskState ? Omit<State, keyof Head> : never;

/** Never deleted: a run of the suite creates a few dozen. */
const tasks = new Map<string, FixtureTask>();

const ownTask = (owner: string, taskId: string): FixtureTask | undefined => {
  const task = tasks.get(taskId);
  return task?.owner === owner ? task : undefined;
};

/** Serves the tasks of the fixtures besides the runs. */
export const withFixtureTasks = (runs: TaskSource): TaskSource => ({
  find: async (reader, taskId) => ownTask(reader.owner, taskId)?.state ?? runs.find(reader, taskId),
  cancel: async (caller, taskId) => {
    const task = ownTask(caller.owner, taskId);
    return task === undefined ? runs.cancel(caller, taskId) : task.cancel();
  },
  update: async (owner, taskId, answers) => {
    const task = ownTask(owner, taskId);
    return task === undefined ? runs.update(owner, taskId, answers) : task.answer(answers);
  },
  list: runs.list,
});

export function startFixtureTask(fixture: Fixture, call: FixtureCall, owner: string): TaskState {
  const cancelled = new AbortController();
  let answers = { ...call.answers };
  const now = Date.now();
  const head = {
    taskId: crypto.randomUUID(),
    createdAt: now,
    updatedAt: now,
    ttlMs: null,
    pollMs: 100,
    message: "Working",
  };
  const change = (stateChange: StateChange): void => {
    if (!isTerminal(task.state.status)) task.state = { ...head, updatedAt: Date.now(), ...stateChange };
  };
  const progress = (message: string): void => {
    head.message = message;
  };
  const work = async (): Promise<void> => {
    change({ status: "working" });
    change(await stateAfter(fixture, { ...call, answers, signal: cancelled.signal, progress }));
  };
  const task: FixtureTask = {
    owner,
    state: { ...head, status: "working" },
    answer: (given) => {
      if (task.state.status !== "input_required") return;
      const asked = Object.entries(task.state.inputRequests);
      const open = asked.filter(([key]) => given[key] === undefined);
      const closed = asked.filter(([key]) => given[key] !== undefined);
      answers = { ...answers, ...Object.fromEntries(closed.map(([key]) => [key, given[key]])) };
      if (open.length === 0) void work();
      else change({ status: "input_required", inputRequests: Object.fromEntries(open) });
    },
    cancel: () => {
      change({ status: "cancelled", result: textResult("Cancelled.") });
      cancelled.abort();
    },
  };
  tasks.set(head.taskId, task);
  void work();
  return task.state;
}

/** A tool that fails has a result; only a protocol error has none. */
async function stateAfter(fixture: Fixture, call: FixtureCall): Promise<StateChange> {
  try {
    const answer = await fixture.run(call);
    return isInputRequiredResult(answer)
      ? { status: "input_required", inputRequests: answer.inputRequests ?? {} }
      : { status: "completed", result: answer };
  } catch (error) {
    return error instanceof ProtocolError
      ? { status: "failed", error: { code: error.code, message: error.message } }
      : { status: "completed", result: failedWith(error) };
  }
}
