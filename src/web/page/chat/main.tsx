/** Entry point of the run card: connects to the chat client and shows the run that its tool call is about. */

import { render } from "preact";
import { RefusedError, routeRequests } from "../app/request.ts";
import { mergeEntries } from "../run/timeline.tsx";
import type { Refused } from "../../wire.ts";
import { applyContext, followCardLinks, reportSize } from "./embedding.ts";
import { Card, type CardState } from "./card.tsx";
import { createSleep, type Followed, followRun } from "./follow-run.ts";
import { connectHost, fetchAsPage, type Host, type HostContext, type ToolAnswer } from "./host.ts";

declare const BUILD_VERSION: string;

const teardown = new AbortController();
let state: CardState = { entries: [] };
let context: HostContext = {};
let host: Host | undefined;
/** What the client has sent before the connection was complete. */
let followed: Followed | undefined;
let following: AbortController | undefined;

const root = document.querySelector("#card");

function update(change: Partial<CardState>): void {
  state = { ...state, ...change };
  if (root !== null && !teardown.signal.aborted)
    render(<Card {...{ state, host, context, setContext: changeContext }} />, root);
}

function changeContext(change: HostContext): void {
  context = { ...context, ...change };
  applyContext(change);
  update({});
}

const idOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

function onInput({ task_id, query }: Record<string, unknown>): void {
  const [taskId, question] = [idOf(task_id), idOf(query)?.trim()];
  if (question !== undefined) update({ question });
  if (taskId !== undefined) follow({ task_id: taskId });
  else if (question !== undefined) follow({ query: question });
}

function onResult({ isError, structuredContent = {} }: ToolAnswer): void {
  const { task_id, metadata } = structuredContent;
  const nested =
    typeof metadata === "object" && metadata !== null && "task_id" in metadata ? metadata.task_id : undefined;
  const taskId = idOf(task_id) ?? idOf(nested);
  if (taskId !== undefined) follow({ task_id: taskId });
  else if (isError === true) {
    stopFollowing();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one error shape of the server
    if ("error" in structuredContent) update({ problem: new RefusedError(structuredContent as unknown as Refused) });
    else update({ problem: new Error("The call failed.") });
  }
}

function onCancelled(): void {
  if (state.run !== undefined) return;
  stopFollowing();
  update({ isCancelled: true });
}

function stopFollowing(): void {
  following?.abort();
  followed = undefined;
}

function follow(next: Followed): void {
  const isKnown = "task_id" in next && state.run?.task_id === next.task_id;
  if (isKnown || (followed !== undefined && JSON.stringify(followed) === JSON.stringify(next))) return;
  followed = next;
  startFollowing();
}

function startFollowing(): void {
  if (followed === undefined || host?.capabilities.serverTools === undefined) return;
  following?.abort();
  following = new AbortController();
  const signal = AbortSignal.any([teardown.signal, following.signal]);
  void followRun(followed, {
    read: host.viewRun,
    onView: ({ run, entries, plan }) => {
      const known = state.run?.task_id === run.task_id ? state.entries : [];
      update({ run, entries: mergeEntries(known, entries), plan, problem: undefined });
    },
    onProblem: (problem) => {
      // The run of a call that has just begun is not stored yet.
      const isComing = problem instanceof RefusedError && problem.code === "TASK_NOT_FOUND" && state.run === undefined;
      if (!(isComing && followed !== undefined && "query" in followed)) update({ problem });
    },
    sleep: createSleep(signal),
    signal,
  });
}

async function start(): Promise<void> {
  update({});
  const onTeardown = (): void => teardown.abort();
  const connected = await connectHost(BUILD_VERSION, {
    onInput,
    onResult,
    onCancelled,
    onContext: changeContext,
    onTeardown,
  });
  routeRequests((path) => fetchAsPage(connected, path));
  followCardLinks(connected, teardown.signal);
  const stop = reportSize(connected, document.body);
  host = connected;
  teardown.signal.addEventListener("abort", stop);
  update({});
  startFollowing();
}

void start().catch((problem: unknown) => update({ problem }));
