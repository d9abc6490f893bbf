/** The Gemini CLI extension, checked by the Gemini CLI itself. */

import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ROOT, temporaryDirectory } from "../kit/server/server.ts";

const GEMINI = join(ROOT, "node_modules/@google/gemini-cli/bundle/gemini.js");

const run = promisify(execFile);

test("the Gemini CLI accepts the extension, and rejects it without a version (X2)", async ({ onTestFinished }) => {
  const home = temporaryDirectory();
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const validate = async (name: string, manifest: object): Promise<string> => {
    const folder = join(home, name);
    mkdirSync(folder);
    cpSync(join(ROOT, "skills"), join(folder, "skills"), { recursive: true });
    writeFileSync(join(folder, "gemini-extension.json"), JSON.stringify(manifest));
    const env = { PATH: process.env["PATH"] ?? "", HOME: home, HTTPS_PROXY: "http://127.0.0.1:9" };
    const { stdout, stderr } = await run(process.execPath, [GEMINI, "extensions", "validate", folder], {
      cwd: home,
      env,
    });
    return stdout + stderr;
  };
  const manifest = JSON.parse(readFileSync(join(ROOT, "gemini-extension.json"), "utf8"));
  const { version: _version, ...incomplete } = manifest;
  await Promise.all([
    expect(validate("gemini-search", manifest)).resolves.toContain("successfully validated"),
    expect(validate("incomplete", incomplete)).rejects.toThrow(),
  ]);
});
