import { expect, test } from "vitest";
import type { AgentEvent, FollowRequest } from "../gemini/agent.ts";
import { clock, openStage, request, type Stage } from "../../test/support/research-deps.ts";
import { startResearch } from "./start.ts";
import { followStream } from "./stream.ts";

const thought = (n: number): AgentEvent => ({ kind: "thought", text: `Thought ${n}`, eventId: `ev_${n}` });
const STORY: AgentEvent[] = [
  thought(1),
  // One event of Google's, two searches.
  { kind: "search", query: "first", eventId: "ev_2" },
  { kind: "search", query: "second", eventId: "ev_2" },
  thought(3),
  thought(4),
];

/** Plays the story from where it is asked for to `until`, and says what it was asked. */
function google(until: { events: number }) {
  const asked: (string | undefined)[] = [];
  const follow = async ({ lastEventId, onEvent }: FollowRequest): Promise<void> => {
    asked.push(lastEventId);
    const from = STORY.findLastIndex(({ eventId }) => eventId === lastEventId) + 1;
    for (const event of STORY.slice(from, until.events)) onEvent(event);
  };
  return { asked, follow };
}

async function startedRun(stage: Stage, interactionId: string) {
  const begin = async () => ({ kind: "accepted" as const, interactionId });
  const { taskId, ...started } = await startResearch(stage.deps({ begin }), { ...request, forceNew: true });
  if (started.kind === "started") await started.sending;
  return { taskId, interactionId, agent: request.agent, createdAt: clock.now() };
}

const stored = async ({ store }: Stage, taskId: string): Promise<string[]> => {
  const rows = store.db.selectFrom("research_events").select("data_json").where("task_id", "=", taskId).orderBy("seq");
  return (await rows.execute()).map(({ data_json }) => JSON.parse(data_json).text);
};

const WHOLE = ["Thought 1", "Searching: first", "Searching: second", "Thought 3", "Thought 4"];

test("G8 J3 a stream that another process takes up goes on where the first had stored it", async (context) => {
  const stage = await openStage(context);
  const until = { events: 3 };
  const { asked, follow } = google(until);
  const run = await startedRun(stage, "v1_story");
  const signal = new AbortController().signal;
  await followStream(stage.deps({ follow }), run, signal);
  until.events = STORY.length;
  await followStream(stage.deps({ follow }), run, signal);
  expect(await stored(stage, run.taskId)).toEqual(WHOLE);
  expect(asked.at(2)).toBe("ev_2");
});

test("J3 however many processes hear a stream, each of its events is stored once", async (context) => {
  const stage = await openStage(context);
  const { follow } = google({ events: STORY.length });
  const run = await startedRun(stage, "v1_story");
  const signal = new AbortController().signal;
  await Promise.all([1, 2, 3].map(() => followStream(stage.deps({ follow }), run, signal)));
  expect(await stored(stage, run.taskId)).toEqual(WHOLE);
});

test("J3 what Google sends again, at once or when it is asked again, is stored once", async (context) => {
  const stage = await openStage(context);
  const asked: (string | undefined)[] = [];
  // From the event that it is asked for on, where it should be after it; and one of them twice.
  const follow = async ({ lastEventId, onEvent }: FollowRequest): Promise<void> => {
    asked.push(lastEventId);
    const from = Math.max(
      0,
      STORY.findIndex(({ eventId }) => eventId === lastEventId),
    );
    const events = asked.length === 1 ? STORY.slice(0, 4) : STORY.slice(from);
    for (const event of [...events, ...events.slice(-1)]) onEvent(event);
    if (asked.length > 1) onEvent({ kind: "done", eventId: "ev_9" });
  };
  const run = await startedRun(stage, "v1_story");
  await followStream(stage.deps({ follow }), run, new AbortController().signal);
  expect(asked).toEqual([undefined, "ev_3"]);
  expect(await stored(stage, run.taskId)).toEqual(WHOLE);
});

test("J3 what another interaction of the run said before is no place in this one's stream", async (context) => {
  const stage = await openStage(context);
  const { asked, follow } = google({ events: STORY.length });
  const run = await startedRun(stage, "v1_story");
  const signal = new AbortController().signal;
  await followStream(stage.deps({ follow }), run, signal);
  const before = asked.length;
  await followStream(stage.deps({ follow }), { ...run, interactionId: "v1_restarted" }, signal);
  expect(asked[before]).toBeUndefined();
  expect(await stored(stage, run.taskId)).toEqual([...WHOLE, ...WHOLE]);
});
