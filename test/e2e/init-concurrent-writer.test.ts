/** `init` through the built command line, while another program writes the same file. */

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startCommand } from "../kit/server/command.ts";
import { isolatedEnvironment, ROOT, temporaryDirectory } from "../kit/server/server.ts";

test("init never overwrites what another program writes after it compared the file, whether it existed or not", async () => {
  const home = temporaryDirectory();
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const [existing, missing] = [join(home, ".gemini/settings.json"), join(home, ".cursor/mcp.json")];
  mkdirSync(dirname(existing));
  writeFileSync(existing, '{"before": true}');
  const env = {
    ...isolatedEnvironment(join(home, "ours")),
    HOME: home,
    PATH: dirname(process.execPath),
    NODE_OPTIONS: `--import=${join(ROOT, "test/kit/server/concurrent-writer.ts")}`,
  };
  const { code, stdout } = await startCommand(["init", "--yes", "gemini-cli", "cursor"], { env, cwd: home }).ended;
  expect([code, stdout]).toEqual([1, expect.stringContaining("was changed by another program just now")]);
  expect(stdout).toContain("Close the client and run init again.");
  for (const file of [existing, missing]) {
    expect(readFileSync(file, "utf8")).toBe('{"written": "meanwhile"}');
    expect(readdirSync(dirname(file))).toHaveLength(1);
  }
});
