/** Stores the results of each experiment in lab/results and renders docs/engineering/RELIABILITY.md. */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Finding } from "./experiment.ts";

const ROOT = join(import.meta.dirname, "..");
const RESULTS = join(ROOT, "lab/results");
const DOCUMENT = join(ROOT, "docs/engineering/RELIABILITY.md");

const resultSchema = z.object({
  name: z.string(),
  about: z.string(),
  covers: z.string(),
  date: z.string(),
  commit: z.string(),
  machine: z.string(),
  command: z.string(),
  scale: z.number(),
  seconds: z.number(),
  findings: z.array(
    z.object({
      promise: z.string(),
      target: z.string(),
      measured: z.string(),
      met: z.boolean(),
      note: z.string().optional(),
    }),
  ),
});
type Result = z.infer<typeof resultSchema>;

/** Returns false if the stored result is of a longer run, which stays unless it is replaced on purpose. */
export function keepResult(result: Result, { replace }: { replace: boolean }, directory = RESULTS): boolean {
  const file = join(directory, `${result.name}.json`);
  if (!replace && existsSync(file) && readResult(file).scale > result.scale) return false;
  mkdirSync(directory, { recursive: true });
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
  return true;
}

/** Adds the findings of the stored run that this one has not repeated; each names the run it is from. */
export function withEarlierFindings(result: Result): Result {
  const stored = readResult(join(RESULTS, `${result.name}.json`));
  const from = `From \`${stored.command}\`, ${stored.date}, commit ${stored.commit}.`;
  const kept = stored.findings
    .filter(({ promise }) => !result.findings.some((finding) => finding.promise === promise))
    .map((finding) => ({ ...finding, note: finding.note ?? from }));
  return { ...result, findings: [...result.findings, ...kept] };
}

const readResult = (file: string): Result => resultSchema.parse(JSON.parse(readFileSync(file, "utf8")));

export const tableOf = (findings: readonly Finding[]): string =>
  [
    "| promise | target | measured | |",
    "|---|---|---|---|",
    ...findings.map(
      ({ promise, target, measured, met }) =>
        `| ${cell(promise)} | ${cell(target)} | ${cell(measured)} | ${met ? "met" : "**missed**"} |`,
    ),
  ].join("\n");

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

export function renderReliability(): void {
  const results = readdirSync(RESULTS)
    .filter((name) => name.endsWith(".json"))
    .toSorted()
    .map((name) => readResult(join(RESULTS, name)));
  writeFileSync(DOCUMENT, [INTRODUCTION, ...results.map(section)].join("\n\n") + "\n");
}

const INTRODUCTION = `# Reliability

Every row was measured with the command above its table; only \`npm run lab\` writes this page. Gemini is simulated, and the simulator's ledger of accepted starts shows what was paid. Most experiments run the built program, or a build with named kill points; \`fuzz\`, \`parsing-time\`, \`mutation\`, the faults and the n-th write of \`disk\` run the sources in one process. \`npm test\` and \`npm run test:long\` together run short versions of all experiments except \`mutation\`, and the seeded histories of \`test/simulation\`. Experiments are repeated at full length when what they measure has changed, not with every commit: each table names its own.

\`mutation\` runs each module's fast in-process tests on SQLite only, so mistakes that only PostgreSQL or several processes would show count as survivors. The limits of \`soak\` (warm-up, noise, descriptors) and of the first message in \`long-run\` (1 s, now 2 s) were widened after shorter runs had missed them.

Not promised: exactly one start at Google in every case (its API has no idempotency key), stopping a run whose id was never received, searches through the Gemini CLI after the client is closed, protection from other programs of the same user, the truth of web content.`;

function section(result: Result): string {
  const { name, about, covers, date, commit: id, machine, command, scale, seconds, findings } = result;
  const notes = findings.flatMap(({ promise, note }) => (note === undefined ? [] : [`- ${promise}: ${note}`]));
  return [
    `## ${name}`,
    about,
    `\`${command}\` · ${date} · commit ${id} · ${machine} · ${seconds} s${scale < 1 ? ` · at ${scale} of its full length` : ""} · covers ${covers}`,
    tableOf(findings),
    ...(notes.length === 0 ? [] : [notes.join("\n")]),
  ].join("\n\n");
}
