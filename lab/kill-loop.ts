/** The long kill run: `node lab/kill-loop.ts --kills 10000 [--seed 1] [--lanes 3]`. Prints what was counted; 1 when a promise broke. */

import { parseArgs } from "node:util";
import { drain, KILL_POINTS, killAll } from "../test/support/research-kill.ts";
import { judge } from "../test/support/research-kill-judge.ts";
import { openKillWorld } from "../test/support/research-kill-world.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "10000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    lanes: { type: "string", default: "3" },
  },
});

/** One world grows slower with its ledger; after this many kills a new one begins. */
const KILLS_PER_WORLD = 500;
const points = Object.values(KILL_POINTS).flat().length;
const totals: Record<string, number> = {};
const broken: string[] = [];
const print = (text: string): void => void process.stdout.write(`${text}\n`);

for (let seed = Number(values.seed); (totals["kills"] ?? 0) < Number(values.kills); seed += 1) {
  const wanted = Math.min(KILLS_PER_WORLD, Number(values.kills) - (totals["kills"] ?? 0));
  const each = Math.floor(wanted / 2 / points);
  const world = await openKillWorld({ seed, starts: wanted * 4 });
  try {
    const began = Date.now();
    await killAll(world, { each, random: wanted - each * points, lanes: Number(values.lanes) });
    await drain(world);
    const verdict = await judge(world);
    for (const [name, count] of Object.entries(verdict.counts)) totals[name] = (totals[name] ?? 0) + count;
    broken.push(...verdict.broken);
    print(`seed ${seed}, ${Math.round((Date.now() - began) / 1_000)} s: ${JSON.stringify(verdict.counts)}`);
    for (const sentence of verdict.broken) print(`BROKEN: ${sentence}`);
  } finally {
    await world.close();
  }
}

print(`total: ${JSON.stringify(totals)}, broken promises: ${broken.length}`);
process.exitCode = broken.length === 0 ? 0 : 1;
