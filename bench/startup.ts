/** Cold start until the response to tools/list, compared with a bare server on the same SDK and with Node.js alone. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { build, type OutputOptions } from "rolldown";
import bundleConfig from "../rolldown.config.ts";
import { BIN, isolatedEnvironment } from "../test/kit/server/server.ts";
import type { Table } from "./report.ts";
import { ratiosOf, spreadOf, withSpread } from "./statistics.ts";
import { type Era, listTools, openStdioClient, type Program } from "./stdio-client.ts";
import { withWorkspace } from "./workspace.ts";

const ROUNDS = 40;
const TARGET = 1.1;

interface Samples {
  node: number[];
  bare: Record<Era, number[]>;
  ours: Record<Era, number[]>;
  /** Without compiled code from an earlier start. */
  first: Record<Era, number[]>;
}

export function startup(): Promise<Table> {
  return withWorkspace(async (directory) => {
    const env = isolatedEnvironment(directory);
    const bare = { args: [await bundleBareServer(join(directory, "bare"))], env };
    return tableOf(await sample(bare, { args: [BIN], env }));
  });
}

/** With the options of our own bundle, so that only the content differs. */
export async function bundleBareServer(dir: string, name = "bare-server"): Promise<string> {
  const [{ output, platform = "node" } = {}] = bundleConfig;
  const options: OutputOptions = { ...[output].flat()[0], dir };
  await build({
    platform,
    input: { [name]: join(import.meta.dirname, `${name}.ts`) },
    output: options,
    logLevel: "silent",
  });
  return join(dir, `${name}.js`);
}

/** All kinds alternate, so that a slow moment of the machine affects all of them. */
async function sample(bare: Program, ours: Program): Promise<Samples> {
  const first = { ...ours, env: { ...ours.env, NODE_DISABLE_COMPILE_CACHE: "1" } };
  const none = (): Record<Era, number[]> => ({ legacy: [], modern: [] });
  const samples: Samples = { node: [], bare: none(), ours: none(), first: none() };
  // Fill the file cache and, once the config directory exists, the cache of compiled code; not counted.
  for (const program of [bare, ours, ours, ours]) await timeToTools(program, "modern");
  for (let round = 0; round < ROUNDS; round += 1) {
    samples.node.push(await timeOfNode(bare.env));
    for (const era of ["legacy", "modern"] as const) {
      samples.bare[era].push(await timeToTools(bare, era));
      samples.ours[era].push(await timeToTools(ours, era));
      samples.first[era].push(await timeToTools(first, era));
    }
  }
  return samples;
}

export async function timeToTools(program: Program, era: Era): Promise<number> {
  const client = openStdioClient(program);
  try {
    await listTools(client, era);
    return performance.now() - client.spawnedAt;
  } finally {
    await client.close();
  }
}

async function timeOfNode(env: Record<string, string>): Promise<number> {
  const started = performance.now();
  await once(spawn(process.execPath, ["-e", "0"], { env, stdio: "ignore" }), "exit");
  return performance.now() - started;
}

function tableOf({ node, bare, ours, first }: Samples): Table {
  const eras = (["legacy", "modern"] as const).map((era) => ({ era, ratio: ratiosOf(ours[era], bare[era]) }));
  const met = eras.every(({ ratio }) => ratio.median <= TARGET);
  return {
    title: "Start-up to `tools/list`, cold, over stdio",
    columns: ["client", "`node -e 0`, ms", "bare SDK server, ms", "ours, ms", "ours ÷ bare", "first start ÷ bare"],
    rows: eras.map(({ era, ratio }) => [
      era === "legacy" ? "2025 era: `initialize`, then `tools/list`" : "2026 era: `tools/list` at once",
      withSpread(spreadOf(node), 0),
      withSpread(spreadOf(bare[era]), 0),
      withSpread(spreadOf(ours[era]), 0),
      `**${withSpread(ratio, 2)}**`,
      withSpread(ratiosOf(first[era], bare[era]), 2),
    ]),
    notes: [
      `Medians (quartiles) of ${ROUNDS} rounds, in each of which every kind is started once; the ratio is between neighbouring samples. The bare server has one tool and is bundled like ours. From the second start on, ours reads the compiled code that Node.js keeps in the config directory; the last column is a start without it. Target ≤ ${TARGET}: ${met ? "met" : "missed"}.`,
    ],
    figures: eras.map(({ era, ratio }) => ({
      what: `start-up ÷ bare SDK server, ${era}`,
      value: ratio.median,
      limit: TARGET,
    })),
    passed: true,
  };
}
