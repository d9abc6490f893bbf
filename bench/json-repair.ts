/** Compares JSON repair libraries on malformed model answers: `node bench/json-repair.ts`. */

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

import { MALFORMED_ANSWERS } from "../test/corpus/malformed-answers.ts";
import type { Verdict } from "../test/corpus/judge.ts";
import { LIBRARY_NAMES, loadLibrary } from "./json-repair/libraries.ts";
import { benchCases, type Job, type Message } from "./json-repair/judge-worker.ts";

const GENERATED = 3000;
/** The slowest case takes milliseconds; a library that needs this long has hung. */
const HANG_MS = 5000;

interface Outcome {
  verdict: Verdict | "hang";
  milliseconds: number;
}

function installLibraries(): void {
  try {
    execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"], {
      cwd: fileURLToPath(new URL("./json-repair/", import.meta.url)),
      stdio: "ignore",
    });
  } catch {
    console.log("The other libraries could not be installed (is the network there?).\n");
  }
}

async function usableLibraries(): Promise<string[]> {
  const usable: string[] = [];
  for (const name of LIBRARY_NAMES) {
    try {
      await loadLibrary(name);
      usable.push(name);
    } catch {
      console.log(`${name} is skipped: it is not installed.\n`);
    }
  }
  return usable;
}

async function runLibrary(library: string, mode: Job["mode"]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const total = benchCases(GENERATED).length;
  while (outcomes.length < total) {
    await runUntilHang({ library, mode, generated: GENERATED, from: outcomes.length }, outcomes);
    if (outcomes.length < total) outcomes.push({ verdict: "hang", milliseconds: HANG_MS });
  }
  return outcomes;
}

function runUntilHang(job: Job, outcomes: Outcome[]): Promise<void> {
  const worker = new Worker(new URL("./json-repair/judge-worker.ts", import.meta.url), {
    workerData: job,
    // Some libraries print every fault; their output is discarded.
    stdout: true,
    stderr: true,
  });
  return new Promise((resolve, reject) => {
    const end = (): void => void worker.terminate().then(() => resolve(), reject);
    let watchdog = setTimeout(end, HANG_MS * 4);
    worker.on("message", (message: Message) => {
      clearTimeout(watchdog);
      watchdog = setTimeout(end, HANG_MS);
      if ("index" in message) outcomes[message.index] = message;
    });
    worker.on("error", reject);
    worker.on("exit", () => {
      clearTimeout(watchdog);
      resolve();
    });
  });
}

function printTable(title: string, rows: readonly (readonly [string, readonly Outcome[]])[]): void {
  console.log(`### ${title}\n`);
  console.log("| library | recovered | wrong | nothing | false accept | ms per answer |");
  console.log("|---|---|---|---|---|---|");
  for (const [library, outcomes] of rows) {
    const count = (verdict: Outcome["verdict"]): number =>
      outcomes.filter((outcome) => outcome.verdict === verdict).length;
    const [recovered, wrong, hung] = [count("recovered"), count("wrong"), count("hang")];
    const nothing = count("nothing");
    const toReject = count("false accept") + count("rejected");
    const toRecover = outcomes.length - toReject - hung;
    const finished = outcomes.filter(({ verdict }) => verdict !== "hang");
    const average = finished.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / finished.length;
    const share = ((100 * recovered) / toRecover).toFixed(1);
    const hangs = hung > 0 ? `, ${hung} hung` : "";
    console.log(
      `| ${library} | ${recovered}/${toRecover} (${share} %) | ${wrong} | ${nothing}${hangs} | ${count("false accept")}/${toReject} | ${average.toFixed(3)} |`,
    );
  }
  console.log("");
}

async function compare(mode: Job["mode"], libraries: readonly string[]): Promise<void> {
  const rows: [string, Outcome[]][] = [];
  for (const library of libraries) rows.push([library, await runLibrary(library, mode)]);
  const written = MALFORMED_ANSWERS.length;
  const part = (from: number, to?: number) => rows.map(([name, outcomes]) => [name, outcomes.slice(from, to)] as const);
  printTable(`Library ${mode}, ${written} written cases`, part(0, written));
  printTable(`Library ${mode}, ${GENERATED} generated cases`, part(written));
}

installLibraries();
const libraries = await usableLibraries();
await compare("alone", libraries);
await compare("in our extractor", libraries);
