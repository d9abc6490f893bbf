/** Runs the official conformance suite as a child process and compares its failures with the expected ones. */

import { spawn } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { ROOT, temporaryDirectory } from "./server.ts";

const SUITE = join(ROOT, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
export const EXPECTED_FAILURES = join(ROOT, "test/conformance-expected-failures.yml");

const checksSchema = z.array(
  z.object({
    id: z.string(),
    status: z.enum(["SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO"]),
    errorMessage: z.string().optional(),
  }),
);
type Check = z.infer<typeof checksSchema>[number];

export interface SuiteRun {
  code: number | null;
  output: string;
  /** Checks by scenario. */
  scenarios: Map<string, Check[]>;
}

/** `url` is the MCP endpoint. */
export async function runSuite(url: string, args: string[]): Promise<SuiteRun> {
  const folder = temporaryDirectory();
  try {
    const child = spawn(process.execPath, [SUITE, "server", "--url", url, "-o", folder, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    const scenarios = readdirSync(folder).map((name): [string, Check[]] => [
      name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, ""),
      checksSchema.parse(JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8"))),
    ]);
    return { code, output, scenarios: new Map(scenarios) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface ExpectedFailure {
  /** `scenario:check`. */
  entry: string;
  reason: string;
}

/** Reads one list of the file; the suite itself reads the list `server`. */
export function expectedFailures(list: "server" | "product"): ExpectedFailure[] {
  const lines = readFileSync(EXPECTED_FAILURES, "utf8").split("\n");
  const from = lines.indexOf(`${list}:`) + 1;
  const length = lines.slice(from).findIndex((line) => line !== "" && !line.startsWith(" "));
  return lines
    .slice(from, length === -1 ? undefined : from + length)
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, entry = line, reason = ""] = /^ {2}- (\S+)(?: # (.+))?$/.exec(line) ?? [];
      return { entry, reason };
    });
}

const isBad = ({ status }: Check): boolean => status === "FAILURE" || status === "WARNING";

export interface Judgement {
  unexpected: string[];
  /** Expected failures that now pass: their entries must be removed. */
  stale: string[];
  passed: number;
  expected: number;
  skipped: number;
}

/** Stricter than the suite, which scores neither extensions nor checks that its own reference server fails. */
export function judge({ scenarios }: SuiteRun, known: ExpectedFailure[]): Judgement {
  const checks = [...scenarios].flatMap(([scenario, found]) =>
    found.map((check) => ({ ...check, entry: `${scenario}:${check.id}` })),
  );
  const bad = checks.filter(isBad);
  const excused = new Set(known.map(({ entry }) => entry));
  return {
    unexpected: bad
      .filter(({ entry }) => !excused.has(entry))
      .map(({ entry, status, errorMessage = "" }) => `${status} ${entry} ${errorMessage}`),
    stale: [...excused].filter(
      (entry) => scenarios.has(entry.split(":")[0] ?? "") && !bad.some((check) => check.entry === entry),
    ),
    passed: checks.filter(({ status }) => status === "SUCCESS").length,
    expected: bad.filter(({ entry }) => excused.has(entry)).length,
    skipped: checks.filter(({ status }) => status === "SKIPPED").length,
  };
}
