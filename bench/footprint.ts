/** What a server costs before its first call: start-up, memory, tool list and disk; ours, and peers by their directories. */

import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { z } from "zod";
import { BIN, isolatedEnvironment, ROOT, TEST_KEY } from "../test/kit/server/server.ts";
import type { Table } from "./report.ts";
import { spreadOf, withSpread } from "./statistics.ts";
import { openStdioClient, type Program } from "./stdio-client.ts";
import { withWorkspace } from "./workspace.ts";

const ROUNDS = 10;
const MAX_TOKENS = 2_500;
const MAX_MEGABYTES = 70;

interface Footprint {
  name: string;
  ms: number[];
  tools: number;
  tokens: number;
  /** The peak when it has listed its tools, and at rest: by then a server may have opened its store. */
  megabytes: { listed: number; rest: number };
  installed: Installed;
}

/** Long enough for what a server does on its own after a start. */
const REST_MS = 3_000;

interface Installed {
  megabytes: number;
  packages: number;
}

/** Peers that refuse to start without a key get one that is none; no tool is called. */
const PEER_KEYS = ["EXA_API_KEY", "TAVILY_API_KEY", "PERPLEXITY_API_KEY", "FIRECRAWL_API_KEY", "BRAVE_API_KEY"];

/**
 * `peers` are directories with a package.json whose `bin` is a stdio server for Node.js: a checkout that is installed and
 * built, or the package in the `node_modules` of an otherwise empty directory.
 */
export function footprint(peers: readonly string[]): Promise<Table> {
  return withWorkspace(async (directory) => {
    const env = { ...isolatedEnvironment(directory), GEMINI_API_KEY: TEST_KEY };
    const ours = await measure({ ...manifestOf(ROOT), entry: BIN }, { args: [BIN], env });
    const others: Footprint[] = [];
    const peerEnv = { ...env, ...Object.fromEntries(PEER_KEYS.map((name) => [name, "not-a-real-key"])) };
    for (const path of peers) {
      const peer = manifestOf(resolve(path));
      others.push(await measure(peer, { args: [peer.entry], env: peerEnv }));
    }
    return tableOf(ours, others);
  });
}

const manifest = z.object({
  name: z.string(),
  version: z.string(),
  bin: z.union([z.string(), z.record(z.string(), z.string())]),
});

interface Server {
  name: string;
  entry: string;
  installed: Installed;
}

function manifestOf(directory: string): Server {
  const { name, version, bin } = manifest.parse(JSON.parse(readFileSync(join(directory, "package.json"), "utf8")));
  const file = typeof bin === "string" ? bin : Object.values(bin)[0];
  if (file === undefined) throw new Error(`${directory} has no program.`);
  return { name: `${name} ${version}`, entry: resolve(directory, file), installed: installedIn(directory) };
}

const MODULES = `${sep}node_modules${sep}`;

/** What is on disk after an installation: our package has no dependencies, a peer's are around it or in it. */
function installedIn(directory: string): Installed {
  if (directory === ROOT) return { megabytes: megabytesOf(filesOfPackage()), packages: 1 };
  const at = directory.indexOf(MODULES);
  const folder = at === -1 ? directory : directory.slice(0, at + MODULES.length - 1);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const isPackage = (path: string): boolean =>
    /(?:^|node_modules\/)(?:@[^/]+\/)?[^/@.][^/]*\/package\.json$/.test(path);
  return { megabytes: megabytesOf(files.map((file) => join(folder, file))), packages: files.filter(isPackage).length };
}

const packed = z.array(z.object({ files: z.array(z.object({ path: z.string() })) }));

function filesOfPackage(): string[] {
  const output = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return packed.parse(JSON.parse(output)).flatMap(({ files }) => files.map(({ path }) => join(ROOT, path)));
}

function megabytesOf(paths: readonly string[]): number {
  const sizes = paths.map((path) => (existsSync(path) ? lstatSync(path) : undefined));
  return sizes.reduce((sum, stat) => sum + (stat?.isFile() === true ? stat.size : 0), 0) / 1_000_000;
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
async function measure({ name, installed }: Server, program: Program): Promise<Footprint> {
  const result: Footprint = { name, ms: [], tools: 0, tokens: 0, megabytes: { listed: 0, rest: 0 }, installed };
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
      const peak = residentMegabytes(client.pid, "VmHWM");
      await sleep(REST_MS);
      const rest = residentMegabytes(client.pid, "VmRSS");
      result.megabytes = {
        listed: Math.max(result.megabytes.listed, peak),
        rest: Math.max(result.megabytes.rest, rest),
      };
    } finally {
      await client.close();
    }
  }
  return result;
}

/** Of the process itself, from Linux; 0 elsewhere. */
function residentMegabytes(pid: number | undefined, field: "VmHWM" | "VmRSS"): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const [, kilobytes] = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status) ?? [];
    return Number(kilobytes ?? 0) / 1_024;
  } catch {
    return 0;
  }
}

function tableOf(ours: Footprint, peers: readonly Footprint[]): Table {
  const own = spreadOf(ours.ms).median;
  return {
    title: "Before the first call: start-up, memory, tool list and disk",
    columns: [
      "server",
      "start to `tools/list`, ms",
      "÷ ours",
      "memory: listed, at rest, MB",
      "at rest ÷ ours",
      "tools",
      "tokens",
      "÷ ours",
      "MB on disk",
      "packages",
    ],
    rows: [ours, ...peers].map(({ name, ms, tools, tokens, megabytes, installed }) => [
      name,
      withSpread(spreadOf(ms), 0),
      (spreadOf(ms).median / own).toFixed(2),
      `${megabytes.listed.toFixed(0)}, ${megabytes.rest.toFixed(0)}`,
      (megabytes.rest / ours.megabytes.rest).toFixed(2),
      String(tools),
      String(tokens),
      (tokens / ours.tokens).toFixed(2),
      installed.megabytes.toFixed(1),
      String(installed.packages),
    ]),
    notes: [
      `Medians (quartiles) of ${ROUNDS} cold starts over stdio, in the 2025 era. Memory is the peak of the process when it has listed its tools, and what it has ${REST_MS / 1_000} s later without a call, when ours has opened its database. Tokens (o200k) of names, descriptions and input schemas, which are in every request of a model. On disk: what an installation from npm consists of. Fewer tools have fewer tokens; the tools do different things. Peers, in their published versions and default configuration, are measured if their directories are given: \`--peer <directory>\`.`,
    ],
    figures: [
      { what: "tokens of the tool list", value: ours.tokens, limit: MAX_TOKENS },
      { what: "memory at rest, MB", value: ours.megabytes.rest, limit: MAX_MEGABYTES },
    ],
    passed: true,
  };
}
