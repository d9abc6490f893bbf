/** What a server costs before its first call: start-up, memory and the tool list; ours, and peers by their checkouts. */

import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { z } from "zod";
import { BIN, isolatedEnvironment, TEST_KEY } from "../test/kit/server/server.ts";
import type { Table } from "./report.ts";
import { spreadOf, withSpread } from "./statistics.ts";
import { openStdioClient, type Program } from "./stdio-client.ts";
import { withWorkspace } from "./workspace.ts";

const ROUNDS = 10;
const MAX_TOKENS = 2_500;

interface Footprint {
  name: string;
  ms: number[];
  tools: number;
  tokens: number;
  megabytes: number;
}

/** `peers` are directories with a package.json whose `bin` is a stdio server for Node.js, installed and built. */
export function footprint(peers: readonly string[]): Promise<Table> {
  return withWorkspace(async (directory) => {
    // Most servers refuse to start without a key; none is called.
    const env = { ...isolatedEnvironment(directory), GEMINI_API_KEY: TEST_KEY };
    const ours = await measure("gemini-search-mcp", { args: [BIN], env });
    const others: Footprint[] = [];
    for (const peer of peers) others.push(await measure(basename(resolve(peer)), { args: [entryOf(peer)], env }));
    return tableOf(ours, others);
  });
}

const manifest = z.object({ bin: z.union([z.string(), z.record(z.string(), z.string())]) });

function entryOf(directory: string): string {
  const { bin } = manifest.parse(JSON.parse(readFileSync(join(directory, "package.json"), "utf8")));
  const file = typeof bin === "string" ? bin : Object.values(bin)[0];
  if (file === undefined) throw new Error(`${directory} has no program.`);
  return resolve(directory, file);
}

const listed = z.object({
  tools: z.array(z.looseObject({ name: z.string(), description: z.string().optional(), inputSchema: z.unknown() })),
});

const INITIALIZE = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "bench", version: "1.0.0" },
};

/** In the older era, which all servers speak. */
async function measure(name: string, program: Program): Promise<Footprint> {
  const result: Footprint = { name, ms: [], tools: 0, tokens: 0, megabytes: 0 };
  for (let round = 0; round <= ROUNDS; round += 1) {
    const client = openStdioClient(program);
    try {
      await client.request("initialize", INITIALIZE);
      client.notify("notifications/initialized");
      const { tools } = listed.parse(await client.request("tools/list", {}));
      // The first start fills the file cache.
      if (round > 0) result.ms.push(performance.now() - client.spawnedAt);
      const shown = tools.map((tool) => ({
        name: tool.name,
        description: tool.description,
        inputSchema: tool.inputSchema,
      }));
      result.tools = tools.length;
      result.tokens = countTokens(JSON.stringify(shown));
      result.megabytes = Math.max(result.megabytes, residentMegabytes(client.pid));
    } finally {
      await client.close();
    }
  }
  return result;
}

/** Of the process itself, from Linux; 0 elsewhere. */
function residentMegabytes(pid: number | undefined): number {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes ?? 0) / 1_024;
  } catch {
    return 0;
  }
}

function tableOf(ours: Footprint, peers: readonly Footprint[]): Table {
  const own = spreadOf(ours.ms).median;
  return {
    title: "Before the first call: start-up, memory and tool list",
    columns: ["server", "start to `tools/list`, ms", "÷ ours", "memory, MB", "÷ ours", "tools", "tokens", "÷ ours"],
    rows: [ours, ...peers].map(({ name, ms, tools, tokens, megabytes }) => [
      name,
      withSpread(spreadOf(ms), 0),
      (spreadOf(ms).median / own).toFixed(2),
      megabytes.toFixed(0),
      (megabytes / ours.megabytes).toFixed(2),
      String(tools),
      String(tokens),
      (tokens / ours.tokens).toFixed(2),
    ]),
    notes: [
      `Medians (quartiles) of ${ROUNDS} cold starts over stdio, in the 2025 era. Memory is the peak of the process when it has listed its tools. Tokens (o200k) of names, descriptions and input schemas, which are in every request of a model. Peers are measured if their checkouts are given: \`--peer <directory>\`.`,
    ],
    figures: [{ what: "tokens of the tool list", value: ours.tokens, limit: MAX_TOKENS }],
    passed: ours.tokens <= MAX_TOKENS,
  };
}
