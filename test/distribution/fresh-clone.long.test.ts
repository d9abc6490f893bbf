/** The README's two commands in a clone without build output. `npm ci` itself needs a registry, so its result is linked. */

import { execFile, execFileSync } from "node:child_process";
import { cpSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { isolatedEnvironment, ROOT, temporaryDirectory } from "../kit/server/server.ts";

const run = promisify(execFile);

/** The tracked files as they are in the working tree, without anything that a build has left. */
function freshClone(): string {
  const folder = temporaryDirectory();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" }).split("\0").filter(Boolean);
  for (const file of tracked) cpSync(join(ROOT, file), join(folder, file));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
}

test(
  "npm run demo does all its set-up and shows a report, npm test builds what it tests (X6)",
  { timeout: 300_000 },
  async () => {
    const cwd = freshClone();
    const env = { ...isolatedEnvironment(join(cwd, "config")), npm_config_update_notifier: "false" };
    const demo = await run("npm", ["run", "demo"], { cwd, env });
    expect(demo.stdout).toContain("Gemini is simulated");
    expect(demo.stdout).toMatch(/Saved: research_reports/);
    rmSync(join(cwd, "dist"), { recursive: true });
    // One file through the built program stands for the others.
    const tests = await run("npm", ["test", "--", "--project", "sqlite", "test/e2e/answer-tokens.test.ts"], {
      cwd,
      env,
    });
    expect(tests.stdout).toMatch(/\n[1-9]\d* passed, 0 failed/);
  },
);
