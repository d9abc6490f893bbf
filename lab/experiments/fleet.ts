/** A fleet on one PostgreSQL under load, while its processes, database and network fail in turn. */

import { setTimeout as sleep } from "node:timers/promises";
import {
  DISASTERS,
  type Disaster,
  longestSilences,
  type Orphaned,
  silencesOf,
  strike,
} from "../../test/fleet/disasters.ts";
import { countMismatches } from "../../test/fleet/jobs.ts";
import { judgeFleet, untilRest } from "../../test/fleet/judge.ts";
import { beginLoad, type Load } from "../../test/fleet/load.ts";
import { type FleetWorld, openFleetWorld } from "../../test/fleet/world.ts";
import type { Verdict } from "../../test/kit/judge/kills-judge.ts";
import type { ScenarioInput } from "../../simulator/scenario.ts";
import { type Experiment, type Finding, type LabSetting, scaled } from "../experiment.ts";
import { spread, worst } from "../spread.ts";

const ROUNDS = 6;
const TAKE_OVER_MS = 60_000;
const MARKED_MS = 180_000;
/** Starts of a full experiment. */
const STARTS = 10_000;
const PAUSE_MS = 1_500;

export const fleet: Experiment = {
  name: "fleet",
  about:
    "Two servers and three workers, each with its own host name and the workers with their own networks, share one PostgreSQL while three users start, check and cancel runs through both servers. In every round, in random order: kill -9 of a worker that stays down for 40 s, kill -9 of a server that is restarted, kill -9 of a server while Google has accepted its paid starts but not responded yet, a restart of the database (fast, and immediate as in a crash), a rolling restart of all processes by SIGTERM, and a network that drops everything between one worker and the database for 30 to 90 s. Google's ledger, the database and the notifications are compared after all runs have ended.",
  minutes: 24,
  covers: "P2, P5, I8",
  run: async (setting) => {
    const { print, seed } = setting;
    const world = await openFleetWorld({ seed, isolate: true, scenario: scenarioOf });
    if (world === undefined) throw new Error("PostgreSQL is not installed.");
    try {
      const history = await runDisasters(world, setting);
      await untilRest(world);
      const measured = await measure(world, history);
      for (const { ms, from } of longestSilences(world, 8)) {
        const [what, at] = history.began.findLast(([, began]) => began < from + ms) ?? ["nothing", from];
        print(`not polled for ${seconds(ms)} from ${seconds(from - at)} after ${what} began`);
      }
      const verdict = await judgeFleet(world);
      print(JSON.stringify(verdict.counts));
      for (const sentence of verdict.broken) print(`BROKEN: ${sentence}`);
      return findingsOf({ world, history, measured, verdict });
    } finally {
      await world.close();
    }
  },
};

/** Runs of 5 s to 2 min, some of which fail. Responses are slow enough to be hit by kills. */
function scenarioOf(random: () => number): ScenarioInput {
  const create = Array.from({ length: STARTS }, () => ({
    latency_ms: random() < 0.7 ? 0 : Math.round(1_000 * random()),
    life: {
      duration_ms: Math.round(5_000 + 115_000 * random()),
      ...(random() < 0.05 && { status: "failed" }),
    },
  }));
  return { name: "research-fleet", interactions: { create, get: [{ latency_ms: 500 }] } };
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

interface FleetHistory {
  /** The start time of each disaster. */
  began: [Disaster, number][];
  done: Disaster[];
  orphaned: Orphaned[];
  mismatches: number;
  load: Load;
}

async function runDisasters(world: FleetWorld, setting: LabSetting): Promise<FleetHistory> {
  const load = beginLoad(world, { pauseMs: PAUSE_MS });
  const history: FleetHistory = { began: [], done: [], orphaned: [], mismatches: 0, load };
  await sleep(20_000);
  for (let round = 0; round < scaled(setting, ROUNDS); round += 1) {
    for (const disaster of DISASTERS.toSorted(() => world.random() - 0.5)) {
      history.began.push([disaster, Date.now()]);
      const outcome = await strike(world, disaster);
      if (outcome === "impossible") continue;
      history.done.push(disaster);
      if (outcome !== undefined) history.orphaned.push(outcome);
      await sleep(3_000 + 7_000 * world.random());
      history.mismatches += await countMismatches(world.query);
      setting.print(
        `${disaster}: ${outcome?.interactionIds.length ?? "no"} polls orphaned, ${world.killedStarts.size} starts killed, ${world.returned.size} runs`,
      );
    }
  }
  await load.stop();
  return history;
}

interface Measured {
  /** Time from the kill of a server until its start in flight was marked as unknown. */
  marked: number[];
  killed: number[];
  cut: number[];
  longest: number;
}

/** Runs before the judge queries Google about every run. */
async function measure(world: FleetWorld, { orphaned }: FleetHistory): Promise<Measured> {
  const of = (disaster: Disaster): number[] =>
    orphaned.filter((some) => some.disaster === disaster).flatMap((some) => silencesOf(world, some));
  const unknown = await world.query<{ task_id: string; updated_at: number }>(
    "select task_id, updated_at from research_tasks where status = 'start_unknown'",
  );
  const marked = unknown.flatMap(({ task_id, updated_at }) => {
    const killedAt = world.killedStarts.get(task_id);
    return killedAt === undefined ? [] : [updated_at - killedAt];
  });
  return { marked, killed: of("worker"), cut: of("cut"), longest: longestSilences(world, 1)[0]?.ms ?? 0 };
}

interface FleetOutcome {
  world: FleetWorld;
  history: FleetHistory;
  measured: Measured;
  verdict: Verdict;
}

function findingsOf(outcome: FleetOutcome): Finding[] {
  const { broken, counts } = outcome.verdict;
  const { paid_starts = 0, runs = 0, notified = 0 } = counts;
  const { done, mismatches } = outcome.history;
  const times = Object.entries(Object.groupBy(done, (disaster) => disaster));
  const none = (promise: string, pattern: RegExp, of: string): Finding => {
    const count = broken.filter((sentence) => pattern.test(sentence)).length;
    return { promise, target: "0", measured: `${count} of ${of}`, met: count === 0 };
  };
  return [
    {
      promise: "disasters",
      target: "all seven kinds",
      measured: times.map(([name, those]) => `${name} ${those?.length}`).join(", "),
      met: times.length === DISASTERS.length,
      note: "The network is cut between namespaces (ip netns, veth): packets are sent to a MAC address that does not exist, so they are lost without an error.",
    },
    none(
      "paid starts beyond one per decision",
      /was started \d+ times|not recorded|decisions about|another run/,
      `${paid_starts} paid`,
    ),
    none(
      "runs lost, unfinished or without their whole report",
      /lost|still|without its whole|no id and is|but|cannot be found|did not give|killed server/,
      `${runs} runs`,
    ),
    none("notifications shown twice", /was announced \d+ times|were shown/, `${notified} shown`),
    ...silenceFindings(outcome),
    {
      promise: "runs without their job or jobs without their run, after each disaster",
      target: "0",
      measured: `${mismatches}`,
      met: mismatches === 0,
    },
    none("broken promises of any kind, including leftovers, jobs, leases and unexpected exits", /./, "all checks"),
    ...startFindings(outcome),
  ];
}

function silenceFindings({ world, measured: { killed, cut, longest } }: FleetOutcome): Finding[] {
  const within = (promise: string, silences: number[]): Finding => ({
    promise,
    target: "≤ 60 s",
    measured: silences.length === 0 ? "not measured" : spread(silences),
    met: silences.length > 0 && worst(silences) <= TAKE_OVER_MS,
    ...(world.isolated ? {} : { note: "All on one machine: namespaces need root." }),
  });
  return [
    within("take-over of the polls of a killed worker: from its last poll to the next by another", killed),
    within("the same for a worker that is cut off from the database", cut),
    {
      promise: "longest time without a poll of any run, including restarts of the database",
      target: "≤ 60 s",
      measured: seconds(longest),
      met: longest <= TAKE_OVER_MS,
    },
  ];
}

function startFindings({
  world,
  history: { load },
  measured: { marked },
  verdict: { counts },
}: FleetOutcome): Finding[] {
  const { runs = 0, notified = 0, notifications_lost: lost = 0, start_unknown: unknown = 0 } = counts;
  return [
    {
      promise: "calls that failed because a server or the database was unavailable",
      target: "reported",
      measured: `${load.refused} of ${load.answered + load.refused}`,
      met: true,
    },
    {
      promise: "starts in flight when their server was killed, and the time until they were marked as unknown",
      target: "all, ≤ 180 s",
      measured: `${unknown} of ${runs}; ${spread(marked)}`,
      met: marked.length > 0 && marked.length === world.killedStarts.size && worst(marked) <= MARKED_MS,
      note: "They are paid for, never sent again, and were not returned to any client as accepted.",
    },
    {
      promise: "notifications lost",
      target: "reported",
      measured: `${lost} of ${notified + lost}`,
      met: true,
      note: "At most once by design.",
    },
  ];
}
