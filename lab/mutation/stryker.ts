/** Runs StrykerJS from its own folder, installed on demand, so that the project does not depend on it. */

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { z } from "zod";
import type { CriticalModule } from "./modules.ts";

const VERSION = "10.1.1";
const PROJECT = path.resolve(import.meta.dirname, "../..");
const HOME = path.join(PROJECT, "lab/.mutation");
const PACKAGES = path.join(HOME, "node_modules/@stryker-mutator");

const Location = z.object({ line: z.number(), column: z.number() });
const Report = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.string(),
      mutants: z.array(
        z.object({
          mutatorName: z.string(),
          replacement: z.string().optional(),
          status: z.string(),
          location: z.object({ start: Location, end: Location }),
        }),
      ),
    }),
  ),
});

export interface Mutant {
  file: string;
  line: number;
  kind: string;
  /** Killed, Timeout, Survived, NoCoverage, or another status of Stryker. */
  status: string;
  original: string;
  replacement: string;
}

export async function installStryker(): Promise<void> {
  if (existsSync(path.join(PACKAGES, "vitest-runner"))) return;
  mkdirSync(HOME, { recursive: true });
  writeFileSync(path.join(HOME, "package.json"), JSON.stringify({ private: true }));
  // Without peer dependencies: vitest is the project's own.
  const options = ["--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps"];
  const packages = ["core", "vitest-runner"].map((name) => `@stryker-mutator/${name}@${VERSION}`);
  await run("npm", ["install", ...options, ...packages], HOME);
}

/**
 * Returns every mutant of the module with its status. A module takes minutes: after an interrupted run, one with the
 * same sources and tests is not measured again.
 */
export async function mutate({ name, sources, tests }: CriticalModule): Promise<Mutant[]> {
  const file = (ending: string): string => path.join(HOME, `${name.replaceAll(" ", "-")}${ending}`);
  const report = file(`.${contentHash([...sources, ...tests])}.report.json`);
  if (existsSync(report)) return readReport(report);
  const globalSetup = ["./test/kit/store/sqlite-template.ts"];
  const test = { include: tests, globalSetup, reporters: [], testTimeout: 60_000 };
  writeFileSync(file(".vitest.config.mjs"), `export default ${JSON.stringify({ test })};\n`);
  const configuration = {
    testRunner: "vitest",
    plugins: [path.join(PACKAGES, "vitest-runner/dist/src/index.js")],
    vitest: { configFile: file(".vitest.config.mjs"), related: false },
    mutate: sources,
    reporters: ["json"],
    jsonReporter: { fileName: report },
    coverageAnalysis: "perTest",
    concurrency: availableParallelism(),
    tempDirName: "lab/.mutation/tmp",
    ignorePatterns: ["/docs", "/bench", "/dist*", "/lab"],
    // Stryker cannot rewrite it with TypeScript 7, and nothing here reads it.
    tsconfigFile: "lab/.mutation/no-tsconfig.json",
    disableTypeChecks: false,
    timeoutMS: 8_000,
    tempDirCleanup: true,
  };
  writeFileSync(file(".json"), JSON.stringify(configuration, undefined, 2));
  await run(process.execPath, [path.join(PACKAGES, "core/bin/stryker.js"), "run", file(".json")], PROJECT);
  return readReport(report);
}

function contentHash(files: string[]): string {
  const hash = createHash("sha256").update(VERSION);
  for (const file of files) hash.update(file).update(readFileSync(path.join(PROJECT, file)));
  return hash.digest("hex").slice(0, 12);
}

function readReport(file: string): Mutant[] {
  const { files } = Report.parse(JSON.parse(readFileSync(file, "utf8")));
  return Object.entries(files).flatMap(([name, { source, mutants }]) =>
    mutants.map(({ mutatorName, status, replacement, location: { start, end } }) => ({
      file: name,
      line: start.line,
      kind: mutatorName,
      status,
      original: oneLine(source.slice(offset(source, start), offset(source, end))),
      replacement: oneLine(replacement ?? ""),
    })),
  );
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ");

const offset = (source: string, { line, column }: z.infer<typeof Location>): number =>
  source
    .split("\n")
    .slice(0, line - 1)
    .reduce((sum, { length }) => sum + length + 1, column - 1);

async function run(command: string, parameters: string[], cwd: string): Promise<void> {
  const child = spawn(command, parameters, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (output += text.toString()));
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  if (code !== 0) throw new Error(`${path.basename(command)} ended with ${String(code)}:\n${output.slice(-4_000)}`);
}
