/**
 * Runs all benches or the named ones, and prints their results: `npx node bench/run.ts [--write] [--peer <directory>] [name
 * …]`. With `--write` the results are kept, and docs/engineering/BENCHMARKS.md is written from all that are.
 */

import { parseArgs } from "node:util";
import { loadPerCore, storeResult, writeDocument } from "./document.ts";
import { hasPassed, printCircumstances, printTable, type Table } from "./report.ts";

const {
  values: { write, peer: peers, judge, yes, collections, ...values },
  positionals: chosen,
} = parseArgs({
  allowPositionals: true,
  options: {
    // The file with the cases of the guard or verdicts bench; directories with public collections for the latter.
    set: { type: "string" },
    collections: { type: "string", multiple: true },
    // Ask the judge of the verdicts bench, which costs money: it says how much, and sends nothing without `--yes`.
    judge: { type: "boolean" },
    yes: { type: "boolean" },
    // Options of the fleet bench, for shorter measurements.
    runs: { type: "string" },
    seconds: { type: "string" },
    workers: { type: "string" },
    only: { type: "string" },
    write: { type: "boolean", default: false },
    peer: { type: "string", multiple: true, default: [] },
  },
});

const BENCHES: Readonly<Record<string, () => Promise<Table | undefined>>> = {
  footprint: async () => (await import("./footprint.ts")).footprint(peers),
  startup: async () => (await import("./startup.ts")).startup(),
  overhead: async () => (await import("./overhead.ts")).overhead(),
  bytes: async () => (await import("./bytes.ts")).bytes(),
  recovery: async () => (await import("./recovery.ts")).recovery(),
  status: async () => (await import("./status.ts")).status(),
  ledger: async () => (await import("./ledger.ts")).ledger(),
  retention: async () => (await import("./retention.ts")).retention(),
  fleet: async () => {
    const { readFleetOptions } = await import("./fleet/options.ts");
    return (await import("./fleet/fleet.ts")).fleet(readFleetOptions(values));
  },
  http: async () => (await import("./http.ts")).http(),
  "http-clients": async () => (await import("./http-clients.ts")).httpClients(),
  page: async () => (await import("./page.ts")).page(),
  tokens: async () => (await import("./tokens.ts")).tokens(),
  estimates: async () => (await import("./estimates.ts")).estimates(),
  rounds: async () => (await import("./rounds.ts")).rounds(),
  lies: async () => (await import("./lies.ts")).lies(),
  guard: async () => (await import("./guard.ts")).guard(values.set),
  "hostile-text": async () => (await import("./hostile-text.ts")).hostileText(),
  verdicts: async () => (await import("./claims/verdicts.ts")).verdicts({ ...values, collections, judge, yes }),
  "report-changes": async () => (await import("./claims/report-changes.ts")).reportChanges(),
  citations: async () => (await import("./claims/citations.ts")).citations(),
};

const unknown = chosen.find((name) => !Object.hasOwn(BENCHES, name));
if (unknown !== undefined) {
  throw new Error(`There is no bench "${unknown}". There are: ${Object.keys(BENCHES).join(", ")}.`);
}

for (const [name, bench] of Object.entries(BENCHES)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  const load = loadPerCore();
  const table = await bench();
  if (table !== undefined) printTable(table);
  if (table !== undefined && write) storeResult(name, table, load);
  printCircumstances(name);
  if (table !== undefined && !hasPassed(table)) process.exitCode = 1;
}
if (write) writeDocument(Object.keys(BENCHES));
