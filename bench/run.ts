/** Runs the benches, all or those that are named, and prints what they measured: `node bench/run.ts [name …]`. */

import { printTable, type Table } from "./report.ts";

const BENCHES: Readonly<Record<string, () => Promise<Table>>> = {
  startup: async () => (await import("./startup.ts")).startup(),
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) throw new Error(`There is no bench "${unknown[0]}". There are: ${Object.keys(BENCHES).join(", ")}.`);

for (const [name, bench] of Object.entries(BENCHES)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  const table = await bench();
  printTable(name, table);
  if (!table.passed) process.exitCode = 1;
}
