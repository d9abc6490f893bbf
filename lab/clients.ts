/**
 * Runs real MCP clients without a user interface against our server and a scripted model: `npx node lab/clients.ts
 * [--client name] [--transport stdio|http] [--scenario name] [--call-seconds seconds] [--write]`.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { claudeCode } from "./clients/claude-code.ts";
import { type Client, install } from "./clients/client.ts";
import { codex } from "./clients/codex.ts";
import { geminiCli } from "./clients/gemini-cli.ts";
import type { Verdict } from "./clients/judge.ts";
import { page } from "./clients/matrix.ts";
import { opencode } from "./clients/opencode.ts";
import { reportOf } from "./clients/report.ts";
import { runTrial, SCENARIOS, type Trial } from "./clients/trial.ts";
import type { Transport } from "./clients/world.ts";

const CLIENTS = [claudeCode, codex, geminiCli, opencode];
const TRANSPORTS: readonly Transport[] = ["stdio", "http"];

const { values } = parseArgs({
  options: {
    client: { type: "string" },
    transport: { type: "string" },
    scenario: { type: "string" },
    /** Duration of the blocking call, in seconds. */
    "call-seconds": { type: "string", default: "90" },
    write: { type: "boolean", default: false },
  },
});

function chosen<Item>(all: readonly Item[], nameOf: (item: Item) => string, name: string | undefined): Item[] {
  const found = all.filter((item) => name === undefined || nameOf(item) === name);
  if (found.length > 0) return found;
  throw new Error(`There is no "${name}". There are: ${all.map(nameOf).join(", ")}.`);
}

const same = (name: string): string => name;
const clients = chosen(CLIENTS, ({ name }) => name, values.client);
const transports = chosen(TRANSPORTS, same, values.transport);
const scenarios = chosen(SCENARIOS, same, values.scenario);
const callSeconds = Number(values["call-seconds"]);
const [usualReport, longReport] = [reportOf(60_000), reportOf(150_000)];

/** A client that cannot be installed or started is reported like any other failure. */
function impossible({ client, transport, scenario }: Trial, error: unknown): Verdict {
  const nothing = { seconds: 0, paidStarts: 0, protocol: "none", progressTokens: "none", progress: 0 };
  const reason = `could not be run here: ${String(error).replaceAll(/\s+/g, " ").slice(0, 300)}`;
  const seen = { tools: "none", instructions: "none", form: "nothing", report: "none", calls: "", notes: [] };
  return { client: client.name, transport, scenario, result: "fail", reason, ...nothing, ...seen };
}

/** The trials of one client and transport run one after the other; clients and transports run in parallel. */
async function trialsOf(client: Client, transport: Transport): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const scenario of scenarios) {
    // The proxy between a client and our HTTP server changes nothing.
    if (scenario === "unknown-client" && transport === "http") continue;
    const report = scenario === "long-report" ? longReport : usualReport;
    const trial: Trial = { client, transport, scenario, callSeconds, report };
    const verdict = await runTrial(trial).catch((error: unknown) => impossible(trial, error));
    process.stderr.write(`${client.name} ${transport} ${scenario}: ${verdict.result} ${verdict.reason}\n`);
    verdicts.push(verdict);
  }
  return verdicts;
}

/** The part before its first heading is written by hand and kept. */
function rewriteTail(file: string, tail: string): void {
  const [heading = ""] = tail.split("\n", 1);
  const before = readFileSync(file, "utf8").split(`${heading}\n`, 1)[0] ?? "";
  writeFileSync(file, `${before}${tail}`);
}

for (const client of clients) await install(client).catch(() => undefined);
const lanes = clients.flatMap((client) => transports.map((transport) => trialsOf(client, transport)));
const verdicts = (await Promise.all(lanes)).flat();
const command = ["npx node lab/clients.ts", ...process.argv.slice(2)].join(" ");
const text = page(verdicts, { clients, command, callSeconds, usual: usualReport.length, long: longReport.length });
process.stdout.write(text);
if (values.write) rewriteTail(join(import.meta.dirname, "../docs/engineering/clients.md"), text);
process.exitCode = verdicts.some(({ result }) => result === "fail") ? 1 : 0;
