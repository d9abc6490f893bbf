/** Runs the simulator as a process: `simulator --port 8080 --scenario demo --state runs.jsonl`. Never writes to stdout. */

import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { scenarioSchema, type Scenario } from "./scenario.ts";
import { startSimulator, type Simulator } from "./server.ts";

const OPTIONS = {
  port: { type: "string", default: "0" },
  scenario: { type: "string", default: "good" },
  state: { type: "string" },
  "exit-with-stdin": { type: "boolean", default: false },
} as const;

async function readScenario(nameOrFile: string): Promise<Scenario | string> {
  if (!nameOrFile.endsWith(".json")) return nameOrFile;
  return scenarioSchema.parse(JSON.parse(await readFile(nameOrFile, "utf8")));
}

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(`--port takes a number from 0 to 65535, not "${text}".`);
}

function closeOnExit(simulator: Simulator, withStdin: boolean): void {
  const end = (): void => void simulator.close().then(() => process.exit(0));
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
  process.once("disconnect", end);
  if (withStdin) process.stdin.resume().once("end", end).once("error", end);
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS });
  const scenario = await readScenario(values.scenario);
  const simulator = await startSimulator({ port: parsePort(values.port), scenario, stateFile: values.state });
  closeOnExit(simulator, values["exit-with-stdin"]);
  process.stderr.write(
    `Gemini simulator listening on ${simulator.url} (scenario ${values.scenario}). Its pages and answers are invented.\n`,
  );
  process.send?.({ url: simulator.url });
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(2);
});
