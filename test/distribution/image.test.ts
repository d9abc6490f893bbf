/** The image for catalogues: with only the files and variables of its stage, it lists its tools unconfigured. */

import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, test } from "vitest";
import { readContainers } from "../../scripts/check-containers.ts";
import { allOf, argumentsOf, lastOf, pairsOf, readStages } from "../../scripts/docker-file.ts";
import { DEFAULT_TOOLS, toolSet } from "../../src/config/tool-sets.ts";
import { ROOT, temporaryDirectory } from "../kit/server/server.ts";

test("the stage stdio of the image lists its tools without a key, a command or a network (X2)", async ({
  onTestFinished,
}) => {
  const stage = readStages(readContainers().dockerfile).find(({ name }) => name === "stdio");
  if (stage === undefined) throw new Error("no stage stdio");
  const image = temporaryDirectory();
  onTestFinished(() => rmSync(image, { recursive: true, force: true }));
  for (const copy of allOf(stage, "COPY").filter((rest) => rest.startsWith("--from=build "))) {
    const [, ...paths] = copy.split(/\s+/);
    const target = join(image, "app", paths.pop() ?? "");
    for (const path of paths) {
      const name = path.replace("/build/", "");
      const to = paths.length > 1 ? join(target, name) : target;
      mkdirSync(join(to, ".."), { recursive: true });
      cpSync(join(ROOT, name), to, { recursive: true });
    }
  }
  const variables = Object.fromEntries(allOf(stage, "ENV").flatMap(pairsOf));
  const [, script = ""] = argumentsOf(lastOf(stage, "ENTRYPOINT")) ?? [];
  expect(lastOf(stage, "CMD")).toBeUndefined();
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(image, script)],
    // A port of nothing: a request that left the image would fail the list.
    env: { ...variables, GEMINI_SEARCH_CONFIG_DIR: join(image, "data"), HTTPS_PROXY: "http://127.0.0.1:9" },
  });
  const client = new Client({ name: "catalogue", version: "1.0.0" }, { versionNegotiation: { mode: "legacy" } });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(toolSet(DEFAULT_TOOLS).listed);
});
