/** A fleet of workers on one PostgreSQL, measured from outside: rates, costs, lateness, limits and failures. */

import { loadavg } from "node:os";
import type { Table } from "../report.ts";
import { withWorkspace } from "../workspace.ts";
import type { Check } from "./check.ts";
import { measureCollecting } from "./collecting.ts";
import { measureDisasters } from "./disasters.ts";
import { measureLimits } from "./limits.ts";
import type { FleetOptions } from "./options.ts";
import { measureQuiet } from "./quiet.ts";
import { measureThroughput } from "./throughput.ts";
import { CORES_PER_WORKER } from "./warm-up.ts";
import { openWorld, type World } from "./world.ts";

const PHASES: Readonly<Record<string, (world: World, options: FleetOptions) => Promise<Check[]>>> = {
  throughput: measureThroughput,
  quiet: measureQuiet,
  limits: measureLimits,
  disasters: measureDisasters,
  collecting: measureCollecting,
};

export function fleet(options: FleetOptions): Promise<Table> {
  const unknown = options.only.find((name) => !Object.hasOwn(PHASES, name));
  if (unknown !== undefined) throw new Error(`--only takes ${Object.keys(PHASES).join(", ")}, not "${unknown}".`);
  return withWorkspace(async (directory) => {
    const world = await openWorld(directory);
    const checks: Check[] = [];
    try {
      for (const [name, measure] of Object.entries(PHASES)) {
        if (options.only.length > 0 && !options.only.includes(name)) continue;
        const measured = await measure(world, options);
        for (const { what, measured: figure } of measured) process.stderr.write(`${name}: ${what}: ${figure}\n`);
        checks.push(...measured);
      }
    } finally {
      await world.close();
    }
    return tableOf(checks, options);
  });
}

function tableOf(checks: Check[], { runs, seconds }: FleetOptions): Table {
  const [load = Number.NaN] = loadavg();
  const mark = ({ target, met }: Check): string => (target === undefined ? "" : met ? "met" : "MISSED");
  return {
    title: `A fleet with ${runs.toLocaleString("en")} runs on one PostgreSQL`,
    columns: ["", "target", "measured", ""],
    rows: checks.map((check) => [check.what, check.target ?? "–", check.measured, mark(check)]),
    notes: [
      `The built \`worker\`, each with ${CORES_PER_WORKER} cores (control groups) for rates, hung responses and idle cost, and without a limit from the lateness on; Google is a stand-in that responds after 100 ms with a change in 30 % of the polls, and counts the polls. PostgreSQL writes to disk (fsync on). All processes share this machine, whose load was ${load.toFixed(1)} at the end. Each measurement takes ${seconds} s.`,
    ],
    passed: checks.every(({ met }) => met),
  };
}
