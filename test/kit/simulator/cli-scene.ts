/**
 * An isolated environment around the CLI backend: a stand-in `gemini` first on PATH, separate folders, and checks for
 * leftovers.
 */

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, type TestContext } from "vitest";
import {
  installStandin,
  readStandinLedger,
  type StandinRecord,
  type StandinScenario,
} from "../../../simulator/gemini-cli/standin-cli.ts";
import { isAlive, processesNaming } from "../server/processes.ts";
import {
  type Era,
  isolatedEnvironment,
  type RunningServer,
  startServer,
  temporaryDirectory,
} from "../server/server.ts";
import { waitFor } from "../wait-for.ts";

export interface CliScene {
  folder: string;
  configDir: string;
  /** Directs a process to the stand-in, and to nothing else. */
  env: Record<string, string>;
  /** Sets the behaviour of `gemini` from now on. */
  script(scenario: StandinScenario): void;
  /** The children so far, in the order of their start. */
  children(): StandinRecord[];
  /** Pids of children that reported their end, with the time. */
  ends(): Map<number, string>;
  server(options?: { era?: Era; env?: Record<string, string>; isMeasured?: boolean }): Promise<RunningServer>;
  /** Checks that, apart from the scene's servers, no process, call directory, file or slot is left. */
  expectNothingLeft(): Promise<void>;
}

export const SOON = { interval: 10 };

/** Everything that it starts ends with the test. */
export function openCliScene(
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  scenario: StandinScenario = {},
): CliScene {
  const folder = temporaryDirectory();
  const inside = (name: string): string => join(folder, name);
  const [configDir, ledger, script, temporary] = [
    inside("config"),
    inside("ledger.jsonl"),
    inside("scenario.json"),
    inside("tmp"),
  ];
  for (const directory of ["config", "home", "tmp"]) mkdirSync(inside(directory), { mode: 0o700 });
  installStandin(inside("bin"));
  const servers: number[] = [];
  const scene: CliScene = {
    folder,
    configDir,
    env: {
      ...isolatedEnvironment(configDir),
      PATH: [inside("bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(":"),
      HOME: inside("home"),
      TMPDIR: temporary,
      SEARCH_BACKEND: "cli",
      GEMINI_STANDIN_SCENARIO: script,
      GEMINI_STANDIN_LEDGER: ledger,
    },
    script: (next) => writeFileSync(script, JSON.stringify(next)),
    children: () => readStandinLedger(ledger),
    ends: () => readEnds(ledger),
    server: async ({ era = "modern", env = {}, isMeasured = false } = {}) => {
      const server = await startServer({ era, env: { ...scene.env, ...env }, configDir, isMeasured });
      servers.push(server.pid);
      onTestFinished(() => server.close());
      return server;
    },
    expectNothingLeft: () =>
      waitFor(() => {
        expect({
          processes: processesNaming(folder).filter((pid) => !servers.includes(pid)),
          children: pidsIn(scene.children()).filter(isAlive),
          rooms: roomsIn(configDir),
          invalidOutputs: readdirSync(configDir).filter((name) => name.startsWith("temp-invalid-output")),
          temporary: readdirSync(temporary),
          slots: slotsIn(configDir),
        }).toEqual({ processes: [], children: [], rooms: [], invalidOutputs: [], temporary: [], slots: 0 });
      }, SOON),
  };
  scene.script(scenario);
  onTestFinished(() => {
    for (const pid of pidsIn(scene.children()).filter(isAlive)) process.kill(pid, "SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return scene;
}

const pidsIn = (records: StandinRecord[]): number[] =>
  records.flatMap(({ pid, grandchild }) => (grandchild === null ? [pid] : [pid, grandchild]));

export const roomsIn = (configDir: string): string[] => readdirSync(join(configDir, "gemini-cli", "calls"));

function slotsIn(configDir: string): number {
  const database = new DatabaseSync(join(configDir, "deep_research.db"), { readOnly: true, timeout: 5_000 });
  try {
    return Number(database.prepare("select count(*) as count from leases where process_id <> ''").get()?.["count"]);
  } finally {
    database.close();
  }
}

function readEnds(ledger: string): Map<number, string> {
  const lines = readFileSync(ledger, "utf8").split("\n");
  const ends = lines.filter((line) => line.startsWith('{"event":"end"'));
  return new Map(ends.map((line) => JSON.parse(line)).map(({ pid, ended_at }) => [pid, ended_at]));
}
