import { expect, onTestFinished, test } from "vitest";
import { atLength } from "../kit/length.ts";
import { type History, openSimulation } from "./simulate.ts";

/** `SIMULATION_SEEDS=10000` plays more, in about ten minutes. */
const SEEDS = Number(process.env["SIMULATION_SEEDS"] ?? atLength({ short: 200, long: 1_000 }));
/** Seeds that once found a fault; never removed. */
const KEPT: number[] = [17, 91, 160, 2_875, 3_692, 4_147];

/** Losses that the judge must notice in a hundred histories. */
const ENOUGH = 20;

type Played = Pick<History, "paid" | "completed" | "cases">;

async function play(
  seeds: Iterable<number>,
  hasPlans: (seed: number) => boolean,
  onTestFinished: (step: () => void) => void,
): Promise<Played> {
  const simulation = await openSimulation();
  onTestFinished(() => simulation.close());
  const all = { paid: 0, completed: 0, cases: { approvals: 0, secondRuns: 0, cancels: 0 } };
  for (const seed of seeds) {
    const history = await simulation.play(seed, { plans: hasPlans(seed) });
    if (history.broken.length > 0) throw new Error(describeFailure(seed, history));
    all.paid += history.paid;
    all.completed += history.completed;
    all.cases.approvals += history.cases.approvals;
    all.cases.secondRuns += history.cases.secondRuns;
    all.cases.cancels += history.cases.cancels;
  }
  return all;
}

const describeFailure = (seed: number, { broken, trace }: History): string =>
  [`Seed ${seed} breaks a promise; keep it in KEPT.`, ...broken, "Trace:", ...trace].join("\n");

const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, n) => from + n);

test("no history of processes, clocks, disks and faults of Google breaks a promise (I8, P2, P5, L1, O2)", async ({
  onTestFinished,
}) => {
  const { paid, completed, cases } = await play(range(1, SEEDS), (seed) => seed % 2 === 0, onTestFinished);
  process.stdout.write(
    `simulation: ${SEEDS} histories, ${paid} paid starts, ${completed} completed, ${JSON.stringify(cases)}\n`,
  );
  // Histories without paid starts would prove nothing.
  expect(paid).toBeGreaterThan(SEEDS);
  expect(completed).toBeGreaterThan(paid / 4);
  // Second runs are rare: their number is printed, and a history may have none.
  expect(cases.approvals).toBeGreaterThan(SEEDS / 20);
  expect(cases.cancels).toBeGreaterThan(SEEDS / 20);
}, 900_000);

test("seeds that found a fault earlier find none", async ({ onTestFinished }) => {
  expect((await play(KEPT, () => false, onTestFinished)).paid).toBeGreaterThan(0);
});

test.each([
  [
    "ids",
    /^update "research_attempts" set "interaction_id"|^insert into "research_attempts".*"interaction_id"/,
    "is lost",
  ],
  ["reports", /^insert into "research_results"/, "without its report"],
])("the judge notices a database that loses %s", async (_what, losing, sentence) => {
  const simulation = await openSimulation({ losing });
  onTestFinished(() => simulation.close());
  let found = 0;
  for (let seed = 1; seed <= 100 && found <= ENOUGH; seed += 1) {
    found += (await simulation.play(seed)).broken.filter((broken) => broken.includes(sentence)).length;
  }
  expect(found).toBeGreaterThan(ENOUGH);
});
