import { describe, expect, test } from "vitest";
import type { Agent, AgentEvent, StreamRequest } from "../../gemini/research-agent.ts";
import { clock, openRunner, request, type Stage } from "../../../test/kit/store/runner.ts";
import { rowOf } from "../../../test/kit/store/store-rows.ts";
import { readActivity } from "../activity/activity.ts";
import { startResearch } from "../start/start.ts";
import { followStream, type WatchedRun } from "./stream.ts";

const thought = (n: number): AgentEvent => ({ kind: "thought", text: `Thought ${n}`, eventId: `ev_${n}` });
const EVENTS: AgentEvent[] = [
  thought(1),
  // One event from Google with two searches.
  { kind: "search", query: "first", eventId: "ev_2" },
  { kind: "search", query: "second", eventId: "ev_2" },
  thought(3),
  thought(4),
];

/** Streams the events after `lastEventId` up to `until`, and records each `lastEventId`. */
function google(until: { events: number }) {
  const asked: (string | undefined)[] = [];
  const stream = async ({ lastEventId, onEvent }: StreamRequest): Promise<void> => {
    asked.push(lastEventId);
    const from = EVENTS.findLastIndex(({ eventId }) => eventId === lastEventId) + 1;
    for (const event of EVENTS.slice(from, until.events)) onEvent(event);
  };
  return { asked, stream };
}

async function startedRun(stage: Stage, interactionId: string) {
  const begin = async () => ({ kind: "accepted" as const, interactionId });
  const { taskId, ...started } = await startResearch(stage.deps({ start: begin }), { ...request, forceNew: true });
  if (started.kind === "started") await started.sending;
  return { taskId, interactionId, model: request.agent, part: "question" as const };
}

const stored = async ({ store }: Stage, taskId: string): Promise<string[]> => {
  const rows = store.db.selectFrom("research_events").select("data_json").where("task_id", "=", taskId).orderBy("seq");
  return (await rows.execute()).map(({ data_json }) => JSON.parse(data_json).text);
};

const WHOLE = ["Thought 1", "Searching: first", "Searching: second", "Thought 3", "Thought 4"];

/** Follows the run until the stream has been opened `opens` times. */
async function followFor(
  stage: Stage,
  run: WatchedRun,
  { opens, stream, maxRps = 1_000 }: { opens: number; stream: Agent["stream"]; maxRps?: number },
): Promise<void> {
  const leaving = new AbortController();
  let opened = 0;
  const counted = async (request: StreamRequest): Promise<void> => {
    opened += 1;
    await stream(request);
    // Delayed, so that the events of this stream are stored first.
    if (opened >= opens) setTimeout(() => leaving.abort(), 60);
  };
  await followStream(stage.deps({ stream: counted }), run, { signal: leaving.signal, maxRps });
}

test("a stream that another process takes over resumes where the first had stored it (G8, J3)", async (context) => {
  const stage = await openRunner(context);
  const until = { events: 3 };
  const { asked, stream } = google(until);
  const run = await startedRun(stage, "v1_stream");
  await followFor(stage, run, { opens: 1, stream });
  const before = asked.length;
  until.events = EVENTS.length;
  await followFor(stage, run, { opens: 1, stream });
  expect(await stored(stage, run.taskId)).toEqual(WHOLE);
  expect(asked[before]).toBe("ev_2");
});

test("however many processes receive a stream, each of its events is stored once (J3)", async (context) => {
  const stage = await openRunner(context);
  const { stream } = google({ events: EVENTS.length });
  const run = await startedRun(stage, "v1_stream");
  await Promise.all([1, 2, 3].map(() => followFor(stage, run, { opens: 1, stream })));
  expect(await stored(stage, run.taskId)).toEqual(WHOLE);
});

test("events that Google repeats, at once or after a reconnect, are stored once (J3)", async (context) => {
  const stage = await openRunner(context);
  const asked: (string | undefined)[] = [];
  // Starts with the event `lastEventId` itself instead of the one after it, and sends the last event twice.
  const stream = async ({ lastEventId, onEvent }: StreamRequest): Promise<void> => {
    asked.push(lastEventId);
    const from = Math.max(
      0,
      EVENTS.findIndex(({ eventId }) => eventId === lastEventId),
    );
    const events = asked.length === 1 ? EVENTS.slice(0, 4) : EVENTS.slice(from);
    for (const event of [...events, ...events.slice(-1)]) onEvent(event);
    if (asked.length > 1) onEvent({ kind: "done", eventId: "ev_9" });
  };
  const run = await startedRun(stage, "v1_stream");
  await followStream(stage.deps({ stream }), run, { signal: new AbortController().signal, maxRps: 1_000 });
  expect(asked).toEqual([undefined, "ev_3"]);
  expect(await stored(stage, run.taskId)).toEqual(WHOLE);
});

test("events of an earlier interaction of the run are no position in the stream of this one (J3)", async (context) => {
  const stage = await openRunner(context);
  const { asked, stream } = google({ events: EVENTS.length });
  const run = await startedRun(stage, "v1_stream");
  await followFor(stage, run, { opens: 1, stream });
  const before = asked.length;
  await followFor(stage, { ...run, interactionId: "v1_restarted" }, { opens: 1, stream });
  expect(asked[before]).toBeUndefined();
  expect(await stored(stage, run.taskId)).toEqual([...WHOLE, ...WHOLE]);
});

describe("a stream without ids", () => {
  const thought = (text: string): AgentEvent => ({ kind: "thought", text, eventId: undefined });
  // One thought is repeated, as in Google's own summaries.
  const THOUGHTS = ["One", "Two", "One", "Three", "Four"];

  test("is reopened when it is cut, and nothing is stored twice or lost (S3)", async (context) => {
    const stage = await openRunner(context);
    let opened = 0;
    const stream = async ({ lastEventId, onEvent }: StreamRequest): Promise<void> => {
      expect(lastEventId).toBeUndefined();
      opened += 1;
      // Each stream starts from the beginning and contains one more event.
      for (const text of THOUGHTS.slice(0, opened)) onEvent(thought(text));
      if (opened > THOUGHTS.length) onEvent({ kind: "done", eventId: undefined });
    };
    const run = await startedRun(stage, "v1_stream");
    await followStream(stage.deps({ stream }), run, { signal: new AbortController().signal, maxRps: 1_000 });
    expect(await stored(stage, run.taskId)).toEqual(THOUGHTS);
    expect(opened).toBe(THOUGHTS.length + 1);
  });

  test("continues in another process without repeating what the first process stored (S3)", async (context) => {
    const stage = await openRunner(context);
    const run = await startedRun(stage, "v1_stream");
    for (const count of [3, 5]) {
      const stream = async ({ onEvent }: StreamRequest): Promise<void> => {
        for (const text of THOUGHTS.slice(0, count)) onEvent(thought(text));
      };
      await followFor(stage, run, { opens: 1, stream });
    }
    expect(await stored(stage, run.taskId)).toEqual(THOUGHTS);
  });

  test("with an id here and there resumes from it, and from the beginning when that brings nothing (S3)", async (context) => {
    const stage = await openRunner(context);
    const asked: (string | undefined)[] = [];
    const stream = async ({ lastEventId, onEvent }: StreamRequest): Promise<void> => {
      asked.push(lastEventId);
      if (asked.length === 2) return;
      onEvent(thought("One"));
      onEvent({ kind: "text", text: "…", eventId: "v1_only" });
      onEvent(thought("One"));
      if (asked.length === 3) onEvent(thought("Two"));
      if (asked.length === 3) onEvent({ kind: "done", eventId: undefined });
    };
    const run = await startedRun(stage, "v1_stream");
    await followStream(stage.deps({ stream }), run, { signal: new AbortController().signal, maxRps: 1_000 });
    expect(asked).toEqual([undefined, "v1_only", undefined]);
    expect(await stored(stage, run.taskId)).toEqual(["One", "Writing the report", "One", "Two"]);
  });
});

describe("sites in a stream", () => {
  const page = (url: string, { use = "opened", title = "" }: { use?: "opened" | "cited"; title?: string } = {}) =>
    ({ kind: "page", use, url, title, eventId: undefined }) satisfies AgentEvent;
  const PAGES: AgentEvent[] = [
    { kind: "search", query: "first", eventId: undefined },
    page("https://www.iea.org/reports/1"),
    page("https://iea.org/reports/2"),
    page("javascript:alert(1)"),
    page("https://user:secret@evil.example/"),
    { kind: "text", text: "The", eventId: undefined },
    { kind: "text", text: " report", eventId: undefined },
    page("https://iea.org/reports/1", { use: "cited", title: "IEA" }),
    page("https://who.int/", { use: "cited", title: "Health\u001B[2J" }),
  ];
  const stream = async ({ onEvent }: StreamRequest): Promise<void> => PAGES.forEach(onEvent);

  test("are stored once each, with the start of the writing, however often they are streamed (J3)", async (context) => {
    const stage = await openRunner(context);
    const run = await startedRun(stage, "v1_stream");
    await Promise.all([1, 2].map(() => followFor(stage, run, { opens: 2, stream })));
    expect(await stored(stage, run.taskId)).toEqual([
      "Searching: first",
      "Reading: iea.org",
      "Writing the report",
      "Citing: Health (who.int)",
    ]);
    expect(await readActivity(stage.store.db, { kind: "agent", taskId: run.taskId })).toEqual({
      phase: "Writing",
      searches: 1,
      sites: 2,
      latest_sites: [
        { url: "https://who.int/", title: "Health", domain: "who.int" },
        { url: "https://www.iea.org/reports/1", title: "iea.org", domain: "iea.org" },
      ],
    });
    // What is cited is no action.
    expect(await rowOf(stage.store.db, run.taskId)).toMatchObject({ current_action: "Writing the report" });
  });

  test("are limited in number (A9)", async (context) => {
    const stage = await openRunner(context);
    const run = await startedRun(stage, "v1_stream");
    const many = Array.from({ length: 2_000 }, (_, index) => page(`https://site-${index}.example/`));
    const flood = async ({ onEvent }: StreamRequest): Promise<void> => many.forEach(onEvent);
    await followFor(stage, run, { opens: 1, stream: flood });
    const activity = await readActivity(stage.store.db, { kind: "agent", taskId: run.taskId });
    expect(activity).toMatchObject({ phase: "Reading", sites: 500 });
    expect(activity.latest_sites).toHaveLength(5);
  });
});

describe("a stream that is cut at once", () => {
  /** A timer may fire two milliseconds early, and the stage's clock is fifty times as fast. */
  const EARLY_MS = 100;

  /** Opens the stream this many times; returns the time of each opening, on the stage's clock and from the beginning. */
  async function openingTimes(stage: Stage, openings: number, { maxRps, news }: { maxRps: number; news: boolean }) {
    const run = await startedRun(stage, "v1_stream");
    const leaving = new AbortController();
    const opened: number[] = [];
    const began = clock.monotonic();
    const stream = async ({ onEvent }: StreamRequest): Promise<void> => {
      opened.push(clock.monotonic() - began);
      if (opened.length === openings) leaving.abort();
      if (news) onEvent({ kind: "thought", text: `Thought ${opened.length}`, eventId: `ev_${opened.length}` });
    };
    await followStream(stage.deps({ stream }), run, { signal: leaving.signal, maxRps });
    return opened;
  }

  const gapsBetween = (times: number[]): number[] => times.slice(1).map((at, index) => at - (times[index] ?? 0));

  test("is reopened after a pause that grows while nothing new comes (S3)", async (context) => {
    const gaps = gapsBetween(await openingTimes(await openRunner(context), 4, { maxRps: 1_000, news: false }));
    const pauses = [2_000, 4_000, 8_000];
    expect(gaps.filter((gap, index) => gap < (pauses[index] ?? 0) - EARLY_MS)).toEqual([]);
  });

  test("is reopened at most once a second even if each opening brings something (S3)", async (context) => {
    const gaps = gapsBetween(await openingTimes(await openRunner(context), 6, { maxRps: 1_000, news: true }));
    expect(gaps.filter((gap) => gap < 1_000 - EARLY_MS)).toEqual([]);
  });

  test("is reopened within the rate that polls share (S3)", async (context) => {
    const times = await openingTimes(await openRunner(context), 4, { maxRps: 0.1, news: true });
    // From the beginning: after an opening that was late, the next one is in time again.
    expect(times.filter((at, index) => at < index * 10_000 - EARLY_MS)).toEqual([]);
  });
});
