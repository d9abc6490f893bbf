/** The Claude Code plugin and marketplace, checked and installed by the real Claude Code (`test/kit/vitest/client-setup.ts`). */

import { execFile } from "node:child_process";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { FACTS, PACKAGE } from "../../distribution/facts.ts";
import { claudeCode } from "../../lab/clients/claude-code.ts";
import { installedClient } from "../../lab/clients/client.ts";
import { ROOT, temporaryDirectory } from "../kit/server/server.ts";

const run = promisify(execFile);
const FILES = [".claude-plugin", "skills", "assets", "README.md", "LICENSE", "plugin.json", "mcp.json"];

test(
  "Claude Code validates the plugin strictly, as its directory does, and installs it (X2)",
  { timeout: 300_000 },
  async ({ onTestFinished, skip }) => {
    const claude = installedClient(claudeCode) ?? skip("Claude Code is not installed: npx node lab/clients.ts");
    const home = temporaryDirectory();
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const folder = join(home, "repository");
    mkdirSync(folder);
    for (const file of FILES) cpSync(join(ROOT, file), join(folder, file), { recursive: true });
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      HTTPS_PROXY: "http://127.0.0.1:9",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    };
    const plugin = async (...args: string[]): Promise<string> =>
      (await run(claude, ["plugin", ...args], { env, cwd: home })).stdout;
    const strict = ["validate", "--strict", "--profile", "directory"];
    expect(await plugin(...strict, folder)).toContain("Validation passed");
    expect(await plugin(...strict, join(folder, ".claude-plugin/plugin.json"))).toContain("Validation passed");
    await plugin("marketplace", "add", folder);
    await plugin("install", `${FACTS.name}@${FACTS.package}`, "--config", "gemini_api_key=not-a-real-key");
    expect(await plugin("list")).toMatch(
      new RegExp(String.raw`${FACTS.name}@${FACTS.package}[\s\S]*${PACKAGE.version}`),
    );
    expect(await plugin("details", FACTS.name)).toContain("web-research");
    rmSync(join(folder, "LICENSE"));
    rmSync(join(folder, "README.md"));
    await expect(plugin(...strict, folder)).rejects.toThrow();
  },
);
