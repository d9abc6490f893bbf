/** Completion in real shells: bash, zsh and fish, with the script that the built command prints. */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test, type TestContext } from "vitest";
import { ensureSystemPackages } from "../../scripts/system-packages.ts";
import { openTerminal } from "../../scripts/tmux.ts";
import { openResearch, QUERY } from "../kit/server/research.ts";
import { BIN } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const run = promisify(execFile);
const READY = (await ensureSystemPackages(["tmux", "zsh", "fish"], { commands: ["tmux", "zsh", "fish"] })) === "ready";

/** It must stay a description. */
const HOSTILE = `${QUERY} $(touch owned) \`touch owned\` ; 'touch' "owned" : \\ done`;

async function openShells(context: Pick<TestContext, "onTestFinished">) {
  const scene = await openResearch(context, { duration_ms: 0 });
  const { stdout } = await scene.command(["research", HOSTILE, "--json"]);
  const folder = mkdtempSync(join(tmpdir(), "gemini-search-completion-"));
  context.onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "gemini-search-mcp"), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`, {
    mode: 0o755,
  });
  const env = { ...scene.env, PATH: `${folder}:${scene.env["PATH"]}` };
  const taskId: string = JSON.parse(stdout).task_id;
  const shell = async (name: string, ...args: string[]): Promise<string> =>
    (await run(name, args, { env, cwd: folder })).stdout;
  return { env, folder, taskId, shell, scene };
}

const COMMANDS = [
  "search",
  "deep-search",
  "research",
  "list",
  "show",
  "save",
  "cancel",
  "open",
  "delete",
  "watch",
  "completion",
];

test.skipIf(!READY)("bash completes commands, options, values and ids", async (context) => {
  const { shell, taskId } = await openShells(context);
  const complete = async (...words: string[]): Promise<string[]> => {
    const script = `source <(gemini-search-mcp completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gemini_search_mcp; printf '%s\\n' "\${COMPREPLY[@]}"; ls`;
    const lines = (await shell("bash", "-c", script, "bash", "gemini-search-mcp", ...words)).trim().split("\n");
    expect(lines.pop()).toBe("gemini-search-mcp");
    return lines;
  };
  expect(await complete("")).toEqual(expect.arrayContaining(COMMANDS));
  expect(await complete("rese")).toEqual(["research"]);
  expect(await complete("list", "--stat")).toEqual(["--status"]);
  expect(await complete("list", "--status", "")).toContain("done");
  expect(await complete("list", "--kind", "deep")).toEqual(["deep-search"]);
  expect(await complete("search", "--backend", "")).toEqual(["auto", "cli", "api"]);
  expect(await complete("token", "")).toEqual(["add", "list", "revoke"]);
  expect(await complete("completion", "")).toEqual(["bash", "zsh", "fish"]);
  expect(await complete("watch", taskId.slice(0, 3))).toEqual([taskId]);
  expect(await complete("search", "watch", "")).not.toContain(taskId);
});

test.skipIf(!READY)("fish completes them with their descriptions", async (context) => {
  const { shell, taskId } = await openShells(context);
  const complete = async (line: string): Promise<string[]> => {
    const out = await shell(
      "fish",
      "-N",
      "-c",
      `gemini-search-mcp completion fish | source; complete -C '${line}'; ls`,
    );
    const lines = out.trim().split("\n");
    expect(lines.pop()).toBe("gemini-search-mcp");
    return lines;
  };
  expect(await complete("gemini-search-mcp rese")).toEqual(["research\tLong report in up to an hour"]);
  expect((await complete("gemini-search-mcp list --status c")).map((line) => line.split("\t")[0])).toContain(
    "cancelled",
  );
  expect(await complete("gemini-search-mcp watch ")).toEqual([expect.stringMatching(`^${taskId}\tHow do heat pumps`)]);
});

test.skipIf(!READY)("zsh completes them at its prompt", async (context) => {
  const { env, taskId, folder } = await openShells(context);
  const terminal = await openTerminal({ env, columns: 120, rows: 40 });
  context.onTestFinished(terminal.close);
  const until = (pattern: RegExp): Promise<void> =>
    waitFor(async () => expect((await terminal.screen()).join("\n")).toMatch(pattern), {
      timeout: 60_000,
      interval: 50,
    });
  await terminal.type(`cd '${folder}'; exec zsh -f`);
  await until(/^\S*[%#] ?$/m);
  await terminal.type(
    'autoload -U compinit; compinit -u -D; eval "$(gemini-search-mcp completion zsh)"; clear; echo ready',
  );
  await until(/^ready/m);
  const steps = [
    ["gemini-search-mcp rese", /mcp research/],
    ["gemini-search-mcp list --status ca", /--status cancelled/],
    [`gemini-search-mcp watch ${taskId.slice(0, 2)}`, new RegExp(`watch ${taskId}`)],
    ["gemini-search-mcp token ", /revoke +-- Revoke a token/],
  ] as const;
  for (const [line, pattern] of steps) {
    await terminal.typeKeys(line);
    await terminal.key("Tab");
    await until(pattern);
    await terminal.key("C-u");
  }
  expect((await run("ls", [folder])).stdout.trim()).toBe("gemini-search-mcp");
});

test("ids for a shell are plain ids, and errors are silent (T26)", async (context) => {
  const { scene, taskId } = await openShells(context);
  const { stdout } = await scene.command(["__complete", "watch", ""]);
  expect(stdout).toMatch(new RegExp(`^${taskId}\tHow do heat pumps[^\n\t]*\n$`));
  const silent = { code: 0, stdout: "", stderr: "" };
  expect(await scene.command(["__complete", "watch", ""], { env: { DEEP_RESEARCH_DB: "nowhere.db" } })).toEqual(silent);
  expect(await scene.command(["__complete", "watch", ""], { env: { DEEP_RESEARCH_DB: "/dev/null" } })).toEqual(silent);
});
