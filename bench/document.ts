/** Stores the results of benches in bench/results and renders docs/engineering/BENCHMARKS.md from them. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { circumstances } from "../scripts/circumstances.ts";
import { isMet, type Table, tableText } from "./report.ts";

const RESULTS = join(import.meta.dirname, "results");
const DOCUMENT = join(import.meta.dirname, "../docs/engineering/BENCHMARKS.md");

interface Result {
  name: string;
  date: string;
  commit: string;
  machine: string;
  /** Load of the machine per core, when the bench began: above 1, others used the processor, too. */
  load: number;
  table: Table;
}

export const loadPerCore = (): number => (loadavg()[0] ?? 0) / availableParallelism();

export function storeResult(name: string, table: Table, load: number): void {
  mkdirSync(RESULTS, { recursive: true });
  const result: Result = { name, ...circumstances(), load: Number(load.toFixed(2)), table };
  writeFileSync(join(RESULTS, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
}

/** In the order of the benches. */
export function writeDocument(names: readonly string[]): void {
  const stored = readdirSync(RESULTS).map(
    (file): Result => JSON.parse(readFileSync(join(RESULTS, file), "utf8")) as Result,
  );
  const results = names.flatMap((name) => stored.filter((result) => result.name === name));
  writeFileSync(DOCUMENT, documentOf(results, names));
}

export function documentOf(results: readonly Result[], names: readonly string[]): string {
  const missing = names.filter((name) => results.every((result) => result.name !== name));
  return [
    "# Benchmarks",
    "Written by `npm run bench -- --write [name …]`; each result names its date, commit and machine. Figures that depend on the machine are compared within one run: with a bare server on the same SDK, with a limit, or, where a checkout is given (`--peer <directory>`), with a peer. A load above 1 per core means that other programs used the processor, too: such times are upper bounds.",
    "## Against their limits",
    limitsTable(results),
    ...results.map(sectionOf),
    ...(missing.length === 0 ? [] : [withoutResult(missing)]),
    "",
  ].join("\n\n");
}

const withoutResult = (names: readonly string[]): string =>
  `No result is stored of ${names.map((name) => `\`${name}\``).join(", ")}. Results of \`fleet\` and \`retention\` are in [scale.md](scale.md), of \`verdicts\` and \`citations\` in decision [0029](decisions/0029-claims-without-a-model.md).`;

function limitsTable(results: readonly Result[]): string {
  const figures = results.flatMap(({ name, table }) => (table.figures ?? []).map((figure) => ({ name, ...figure })));
  return [
    "| figure | measured | limit | measured ÷ limit | | bench |",
    "| --- | --: | --: | --: | --- | --- |",
    ...figures.map(
      ({ name, what, ...figure }) =>
        `| ${what} | ${rounded(figure.value)} | ${rounded(figure.limit)} | **${(figure.value / figure.limit).toFixed(2)}** | ${isMet(figure) ? "met" : "missed"} | \`${name}\` |`,
    ),
  ].join("\n");
}

const rounded = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toFixed(2)));

const sectionOf = ({ name, date, commit, machine, load, table }: Result): string =>
  `${tableText(table).replace(/^###/, "##")}\n\n\`npm run bench -- ${name}\`, ${date}, commit ${commit}, ${machine}, load ${load} per core${load > 1 ? " (**busy machine**)" : ""}`;
