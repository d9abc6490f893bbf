/** Checks that generated documents and names in other documents agree with the code. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { announcedTools } from "../scripts/announced-tools.ts";
import { commandReference } from "../scripts/command-reference.ts";
import { reference, toolNames } from "../scripts/reference.ts";
import { readDocument as read, USER_DOCUMENTS } from "./kit/documents.ts";
import { ERROR_CODES } from "../src/errors.ts";
import { SETTINGS } from "../src/config/settings.ts";

const ROOT = join(import.meta.dirname, "..");

test("docs/reference.md is up to date with the definitions (npm run reference renews it)", () => {
  expect(readFileSync(join(import.meta.dirname, "../docs/reference.md"), "utf8")).toBe(reference());
  expect(reference()).not.toMatch(/\[object|``/);
});

test("docs/commands.md is up to date with the commands (npm run reference renews it)", () => {
  expect(read("docs/commands.md")).toBe(commandReference());
});

test("the announced list of tools is up to date with the definitions (npm run reference renews it) (A5)", () => {
  const listed: unknown = JSON.parse(
    readFileSync(join(import.meta.dirname, "../src/mcp/announced-tools.json"), "utf8"),
  );
  expect(listed).toEqual(JSON.parse(JSON.stringify(announcedTools())));
  expect(read("src/config/tool-names.ts")).toBe(toolNames());
});

test("every setting and code that the documents for users name exists, and so does every test that SECURITY.md cites (B1)", () => {
  const elsewhere = ["GEMINI_SEARCH_CONFIG_DIR", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "NO_COLOR", "UNAVAILABLE"];
  const aliases = Object.values(SETTINGS).flatMap((setting) => setting.aliases ?? []);
  const known = new Set([...Object.keys(SETTINGS), ...Object.keys(ERROR_CODES), ...aliases, ...elsewhere]);
  const named = USER_DOCUMENTS.flatMap((file) =>
    [...read(file).matchAll(/`([A-Z][A-Z\d]+(?:_[A-Z\d]+)+)(?:=[^`]*)?`/g)].map((match) => match[1] ?? ""),
  );
  expect(named.length).toBeGreaterThan(150);
  expect(named.filter((name) => !known.has(name) && !/^(?:GOOGLE_|NODE_)/.test(name))).toEqual([]);
  const cited = [...read("SECURITY.md").matchAll(/`([\w./-]+\.test\.ts)`/g)].map((match) => match[1] ?? "");
  expect(cited.length).toBeGreaterThan(80);
  expect(cited.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

test("docs/google-terms.md explains the settings and commands that Google's terms concern, as they are called (T-4)", () => {
  const terms = read("docs/google-terms.md");
  const settings = [...terms.matchAll(/`([A-Z]+(?:_[A-Z]+)+)(?:=[^`]*)?`/g)].map((match) => match[1] ?? "");
  expect(new Set(settings)).toEqual(
    new Set(["RESEARCH_KEEP_DAYS", "RESOLVE_SOURCE_LINKS", "VERIFY_CITATIONS", "VERIFY_JUDGE"]),
  );
  expect(settings.filter((name) => !(name in SETTINGS))).toEqual([]);
  for (const named of ["Search Suggestions", "`delete`", "`--at-google`", "`delete: true`"])
    expect(terms).toContain(named);
  expect(terms).toContain(`${SETTINGS.RESEARCH_KEEP_DAYS.default} days`);
});

test("every error code that the requirements promise is defined, in the one list of codes (A7)", () => {
  const promised = /^- \*\*A7\*\* Codes: (.*?);/m.exec(read("docs/engineering/requirements.md"))?.[1] ?? "";
  const codes = [...promised.matchAll(/`([A-Z_]+)`/g)].map((match) => match[1] ?? "");
  expect(codes.length).toBeGreaterThan(15);
  expect(codes.filter((code) => !(code in ERROR_CODES))).toEqual([]);
});
