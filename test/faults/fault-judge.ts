/** Plays a run until its fault has ended, and compares the outcome with the expected one. */

import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { followStream } from "../../src/runs/streams/stream.ts";
import { type Expected, type FaultRow, type FaultyRequest, HOST } from "./fault-cells.ts";
import { type Scene, type Setting, until, untilFinished, WHOLE_MS, withScene } from "./fault-player.ts";
import { UNRESOLVABLE_HOST } from "../kit/services/unresolvable-host.ts";

export interface Outcome {
  state: string;
  code: string | undefined;
  sentence: string | undefined;
  end: string;
  confirmed?: boolean | undefined;
  posts: number;
  taken: number;
  /** Violations of promises that hold in every cell. */
  broken: string[];
}

/** This many polls show that the fault alone does not end a run. */
const MIN_POLLS = 4;

export const play = (row: FaultRow, at: FaultyRequest, setting: Setting = {}): Promise<Outcome> =>
  withScene({ row, at, ...setting }, async (scene) => {
    const seen = await PLAYS[at](scene, row.expected[at]);
    const [posts, taken] = [scene.posts(), scene.taken()];
    const attempts = await attemptsOf(scene);
    return {
      code: undefined,
      ...seen,
      posts,
      taken,
      broken: [
        ...(seen.broken ?? []),
        ...(taken > attempts ? [`${taken} starts were taken for ${attempts} attempts`] : []),
        ...upstreamText(scene, seen.sentence),
      ],
    };
  });

/** Differences from the expected outcome, and violations of general promises; empty if there are none. */
export function faultsOf(outcome: Outcome, expected: Expected): string[] {
  const { maxPosts, ...exact } = expected;
  const { posts, broken, ...seen } = outcome;
  const facts: Record<string, unknown> = seen;
  const differing = Object.entries({ code: undefined, ...exact }).filter(([name, value]) => facts[name] !== value);
  return [
    ...broken,
    ...differing.map(([name, value]) => `${name} is "${String(facts[name])}" instead of "${String(value)}"`),
    ...(posts > maxPosts ? [`${posts} paid requests were sent instead of at most ${maxPosts}`] : []),
  ];
}

type Seen = Pick<Outcome, "state" | "sentence" | "end"> & Partial<Outcome>;

const PLAYS: Record<FaultyRequest, (scene: Scene, expected: Expected) => Promise<Seen>> = {
  create: async ({ status, runner, rounds }, expected) => {
    const { status: state, sentence: message, code } = await status();
    const sentence = message.replace(UNRESOLVABLE_HOST, HOST).replace(/127\.0\.0\.1:\d+/, HOST);
    // Several rounds of the runner must not start it again.
    runner.start();
    const from = rounds();
    await until("a round of the runner", () => rounds() > from + 2);
    const { status: end } = await status();
    return { state, sentence: expected.sentence === undefined ? undefined : sentence, code, end };
  },

  get: async (scene, expected) => {
    const { connection, runner, status, heal, gemini, report } = scene;
    runner.start();
    if (expected.end === "completed") {
      await until("polls, or a pause", async () => connection.sent.get >= MIN_POLLS || paused(scene));
    } else {
      await untilFinished(scene);
    }
    // A poll is counted when it is sent; unpacking its response and storing the result may take seconds.
    for (let tries = 0; tries < 100 && (await status()).sentence !== expected.sentence; tries += 1) await sleep(100);
    const { status: state, sentence, code } = await status();
    if (expected.end !== "completed") return { state, sentence, code, end: state, broken: endedEarly(scene) };
    const broken = [...(await quietWhilePaused(scene)), ...((await report()) === "" ? [] : ["an early report"])];
    heal();
    gemini.skip(WHOLE_MS);
    await unpause(scene);
    return { state, sentence, code, end: (await untilFinished(scene)).status, broken };
  },

  cancel: async (scene, expected) => {
    const { connection, runner, run, cancel, heal } = scene;
    runner.start();
    await until("a poll", () => connection.sent.get > 0);
    const { status: state, sentence, confirmed } = await cancel();
    const polls = connection.sent.get;
    if (expected.confirmed === false) await until("polls after the cancel", () => connection.sent.get > polls);
    heal();
    const ended = await until("Google's confirmation", async () => {
      const now = await run();
      return now.cancelConfirmed !== false && now;
    });
    return { state, sentence, confirmed, end: ended.status };
  },

  stream: async (scene) => {
    const { research, runner, status, gemini, run, connection } = scene;
    const { interactionId = "", ...watched } = await run();
    const watching = new AbortController();
    const signal = AbortSignal.any([research.leaving, watching.signal]);
    const following = followStream(research, { ...watched, interactionId }, { signal, maxRps: 5 });
    await until("a stream that is opened again", () => connection.sent.stream > 1);
    const { status: state, code } = await status();
    watching.abort();
    await following;
    const opened = connection.sent.stream;
    runner.start();
    gemini.skip(WHOLE_MS);
    const end = (await untilFinished(scene)).status;
    const whole = (await scene.report()) !== "";
    return {
      state,
      code,
      sentence: undefined,
      end,
      broken: [
        ...(whole ? [] : ["no report"]),
        ...(opened > MAX_STREAMS ? [`the stream was opened ${opened} times`] : []),
      ],
    };
  },
};

/** The stream is opened at most once per second of an accelerated clock. */
const MAX_STREAMS = 12;

const endedEarly = ({ connection }: Scene): string[] =>
  connection.sent.get >= 3 ? [] : [`the run ended after ${connection.sent.get} polls`];

const nextPermitAt = async ({ research }: Scene): Promise<number> => {
  const { rows } = await sql<{ until: number }>`
    select lease_until as until from leases where lease_id = 'polls'`.execute(research.db);
  return rows[0]?.until ?? 0;
};

const PAUSE_MS = 10_000;

const paused = async (scene: Scene): Promise<boolean> =>
  (await nextPermitAt(scene)) > scene.research.clock.now() + PAUSE_MS;

/** While Google demands a pause, no run may be polled. */
async function quietWhilePaused(scene: Scene): Promise<string[]> {
  if (!(await paused(scene))) return [];
  await scene.startAnother();
  const { connection, rounds } = scene;
  const [polls, from, pausedUntil] = [connection.sent.get, rounds(), await nextPermitAt(scene)];
  await until("a round of the runner", () => rounds() > from + 2);
  const isOver = scene.research.clock.now() >= pausedUntil;
  return isOver || connection.sent.get === polls ? [] : [`${connection.sent.get - polls} polls in the pause`];
}

/** Ends the pause as if its time had passed. */
const unpause = ({ research }: Scene): Promise<unknown> =>
  sql`delete from leases where lease_id = 'polls'`.execute(research.db);

async function attemptsOf({ research, taskId }: Scene): Promise<number> {
  const { rows } = await sql<{
    count: number;
  }>`select count(*) as count from research_attempts where task_id = ${taskId}`.execute(research.db);
  return rows[0]?.count ?? 0;
}

/** Matches texts, pages and addresses of the simulated Google. */
const UPSTREAM =
  /invalid argument|authentication credential|caller does not|ListModels|entity was not found|was aborted|payload|billing details|exhausted|internal error|overloaded\. Please|Deadline expired|DOCTYPE|Sign in|That’s an error|greeting|redirected|fetch failed|getaddrinfo|certificate has|127\.0\.0\.1|fault-key/i;

const upstreamText = ({ logged }: Scene, sentence: string | undefined): string[] =>
  [...logged, sentence ?? ""].filter((text) => UPSTREAM.test(text)).map((text) => `upstream text: ${text}`);
