/** Runs that take longer than the client's timeout: the answer arrives, or can be read later. */

import { afterEach, describe, expect, test, vi } from "vitest";
import type { ScenarioInput } from "../../simulator/scenario.ts";
import {
  byPolling,
  byTimingOut,
  byProgress,
  byResuming,
  byTask,
  type LongRun,
  type Peer,
} from "../kit/server/delivery.ts";
import { type HttpScene, openHttpScene } from "../kit/server/http-server.ts";
import type { Era } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const PEERS: [Peer["transport"], Era][] = [
  ["stdio", "legacy"],
  ["stdio", "modern"],
  ["HTTP", "legacy"],
  ["HTTP", "modern"],
];

/** A start that does not wait, and polls as fast as allowed. */
const QUICK = { RESEARCH_SYNC_WINDOW_MS: "0", RESEARCH_POLL_INTERVAL_MS: "100", RESEARCH_MAX_RPS: "100" };
const ROUNDS = 10;
/** The official client's timeout. */
const LIMIT_MS = 60_000;

const VERIFIED_LATE: ScenarioInput = {
  name: "verified-late",
  tasks: { verify: [{ round: ROUNDS, answer: "verified" }, { answer: "unverified" }] },
  // Seven minutes in three seconds.
  interactions: { duration_ms: 420_000, speed: 140 },
};
const STUCK_IN_ROUND_2: ScenarioInput = { name: "stuck", tasks: { verify: [{ round: 2, fault: "hang" }] } };

async function connect(scene: HttpScene, transport: Peer["transport"], era: Era): Promise<Peer> {
  const { client } =
    transport === "stdio"
      ? await scene.server({ era, env: QUICK })
      : await (await scene.http({ env: QUICK })).connect(era);
  return { transport, era, client };
}

const runFor = (way: string): LongRun => ({
  query: `How do heat pumps perform in cold climates? (${way})`,
  waitSeconds: 1,
  rounds: ROUNDS,
});

/** The timers of this process, including the client's timeout, work as usual but can be advanced. */
const ownTimers = (): void =>
  void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });

afterEach(() => void vi.useRealTimers());

describe.each(PEERS)("over %s, a %s client", (transport, era) => {
  test("gets the report of a research by polling its status, and as a task (I3, J1)", async (context) => {
    const scene = await openHttpScene(context, VERIFIED_LATE);
    const peer = await connect(scene, transport, era);
    const [asked, task] = await Promise.all([byPolling(peer, runFor("asked")), byTask(peer, runFor("task"))]);
    for (const delivery of [asked, task]) {
      expect(delivery).toMatchObject({ status: "completed", partial: false });
      expect(delivery.report).toContain("## Executive summary");
    }
    const paid = scene.gemini.ledger.acceptedStarts().map(({ query }) => query);
    expect(paid.toSorted()).toEqual([runFor("asked").query, runFor("task").query]);
  });

  test("keeps waiting for a blocking search while it receives progress, minutes beyond its own limit (G8)", async (context) => {
    const scene = await openHttpScene(context, VERIFIED_LATE);
    const peer = await connect(scene, transport, era);
    ownTimers();
    let words = 0;
    const onProgress = (): void => {
      words += 1;
      vi.advanceTimersByTime(LIMIT_MS / 2);
    };
    const search = await byProgress(peer, { ...runFor("search"), onProgress });
    expect(search.report).toMatch(/^# How do heat pumps/);
    expect(words * (LIMIT_MS / 2)).toBeGreaterThan(2 * LIMIT_MS);
    expect(scene.gemini.ledger.countByKind()).toEqual({ deep_search: 1, verify: ROUNDS - 1 });
  });

  test("that times out cancels its call, finds the finished part in the list, and resumes the rest (G8, Q1)", async (context) => {
    const scene = await openHttpScene(context, STUCK_IN_ROUND_2);
    const peer = await connect(scene, transport, era);
    ownTimers();
    const givenUp = byTimingOut(peer, runFor("given up"));
    await waitFor(() => expect(scene.gemini.ledger.count("verify")).toBe(1), { interval: 50 });
    vi.advanceTimersByTime(LIMIT_MS);
    const delivery = await givenUp;
    expect(delivery).toMatchObject({ status: "cancelled", partial: true, lost: "Request timed out" });
    expect(delivery.report).toMatch(/^# How do heat pumps/);
    scene.gemini.setScenario("good");
    const resumed = await byResuming(peer, runFor("given up"), delivery);
    expect(resumed).toMatchObject({ status: "completed", partial: false });
    // Finished rounds are not requested again.
    expect(scene.gemini.ledger.count("deep_search")).toBe(1);
  });
});
