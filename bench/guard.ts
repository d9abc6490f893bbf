/** Which addresses the guard of cited pages lets through, on a set of addresses with a fake DNS: `--set <file>`. */

import { join } from "node:path";
import { type GuardCase, type GuardResult, readGuardCases, runGuardCase } from "../test/kit/sites/guard-cases.ts";
import type { Table } from "./report.ts";
import { share } from "./wilson.ts";

const OWN_SET = join(import.meta.dirname, "../test/corpus/guard-urls.json");

type Judged = GuardCase & { result: GuardResult };

export async function guard(set = OWN_SET): Promise<Table> {
  const judged: Judged[] = [];
  for (const one of readGuardCases(set)) {
    const result = await runGuardCase(one);
    // An address that was not checked must never be dialled, whatever is expected of the name.
    judged.push({ ...one, expected: result.isRebound ? "refuse" : one.expected, result });
  }
  const groups = [["all", judged] as const, ...Map.groupBy(judged, ({ reason }) => reason)];
  const wrong = judged.filter(({ expected, result }) => expected !== result.found);
  return {
    title: `Guard: ${judged.length} addresses`,
    columns: ["kind", "let through", "wrongly refused"],
    rows: groups.map(([name, cases]) => [name, letThrough(cases), wronglyRefused(cases)]),
    notes: [
      "Let through: of the addresses to refuse, those whose page was fetched. Intervals: Wilson, 95 %.",
      ...wrong.map(({ id, url, result }) => `Wrong: ${id} ${url}: ${result.found} ${result.reason}`),
    ],
    passed: wrong.length === 0,
  };
}

const letThrough = (cases: readonly Judged[]): string => count(cases, "refuse", "allow");
const wronglyRefused = (cases: readonly Judged[]): string => count(cases, "allow", "refuse");

function count(cases: readonly Judged[], expected: GuardCase["expected"], found: GuardResult["found"]): string {
  const relevant = cases.filter((one) => one.expected === expected);
  return share(relevant.filter(({ result }) => result.found === found).length, relevant.length);
}
