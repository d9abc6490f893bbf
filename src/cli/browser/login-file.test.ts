import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createLoginFile } from "./open-browser.ts";

test("a link is opened through a file that only its user can read, and that can be removed (A9)", async (context) => {
  const base = mkdtempSync(join(tmpdir(), "gemini-search-opening-"));
  context.onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const { url, remove } = await createLoginFile("http://127.0.0.1:3000/enter/code?to=%2Fruns%2F1", base);
  expect(url).toMatch(/^file:\/\//);
  expect(url).not.toContain("code");
  const file = fileURLToPath(url);
  const target = "http://127.0.0.1:3000/enter/code?to=%2Fruns%2F1";
  const text = readFileSync(file, "utf8");
  expect(text).toContain(`<meta http-equiv="refresh" content="0; url=${target}">`);
  expect(text).toContain(`<a href="${target}">`);
  const modes = [file, dirname(file)].map((path) => statSync(path).mode & 0o777);
  // Windows has no such modes: there the user's own directory protects it.
  expect(process.platform === "win32" ? [0o600, 0o700] : modes).toEqual([0o600, 0o700]);
  await remove();
  await remove();
  expect(readdirSync(base)).toEqual([]);
});
