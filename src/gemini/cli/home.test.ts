import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCliHome, type CallDirectoryRequest } from "./home.ts";
import { createTestLog } from "../../../test/kit/log.ts";

let folder: string;
let home: string;
let logged: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cli-home-"));
  home = join(folder, "gemini-cli");
  logged = [];
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = () =>
  createCliHome({
    home,
    log: createTestLog((line) => logged.push(line)),
  });

const request = (more: Partial<CallDirectoryRequest> = {}): CallDirectoryRequest => ({
  purpose: "research",
  signIn: { by: "key", type: "gemini-api-key", credentialFiles: [], variables: {} },
  managed: { signInType: "gemini-api-key", firecrawl: {} },
  ...more,
});

const settingsFile = (): string => join(home, ".gemini", "settings.json");
const settings = (): Record<string, unknown> => JSON.parse(readFileSync(settingsFile(), "utf8"));

test("a working directory is private, empty, and deleted when it is closed (C4)", async () => {
  const directory = await open().createCallDirectory(request());
  expect(readdirSync(directory.workingDirectory)).toEqual([]);
  for (const path of [directory.cliHome, directory.workingDirectory, directory.temporary])
    expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(statSync(join(directory.cliHome, ".gemini", "settings.json")).mode & 0o777).toBe(0o600);
  await directory.remove();
  expect(readdirSync(join(home, "calls"))).toEqual([]);
});

test("the settings file is written once, mode 0600, and again only when something changed (B8)", async () => {
  const cliHome = open();
  await (await cliHome.createCallDirectory(request())).remove();
  expect(statSync(settingsFile()).mode & 0o777).toBe(0o600);
  utimesSync(settingsFile(), 1, 1);
  await (await cliHome.createCallDirectory(request())).remove();
  expect(statSync(settingsFile()).mtimeMs).toBe(1_000);
  const managed = { signInType: "gemini-api-key", firecrawl: { apiKey: "fc-secret" } };
  await (await cliHome.createCallDirectory(request({ managed }))).remove();
  expect(settings()).toHaveProperty("mcpServers.firecrawl");
  expect(readFileSync(settingsFile(), "utf8")).not.toContain("fc-secret");
  await (await cliHome.createCallDirectory(request())).remove();
  expect(settings()).not.toHaveProperty("mcpServers");
  expect(readdirSync(join(home, ".gemini"))).toEqual(["settings.json"]);
});

test("the user's edits are kept and apply to the call, comments included (B8)", async () => {
  mkdirSync(join(home, ".gemini"), { recursive: true });
  writeFileSync(settingsFile(), '{\n  // slower line\n  "general": { "maxAttempts": 9 }\n}\n');
  const directory = await open().createCallDirectory(request());
  expect(settings()).toMatchObject({ general: { maxAttempts: 9, enableAutoUpdate: false } });
  expect(JSON.parse(readFileSync(join(directory.cliHome, ".gemini", "settings.json"), "utf8"))).toMatchObject({
    general: { maxAttempts: 9 },
  });
});

test("a settings file that cannot be read is set aside, and the log says so (B8)", async () => {
  mkdirSync(join(home, ".gemini"), { recursive: true });
  writeFileSync(settingsFile(), "{ my edits, ");
  await open().createCallDirectory(request());
  const kept = readdirSync(join(home, ".gemini")).find((name) => name.startsWith("settings.json.broken-"));
  expect(readFileSync(join(home, ".gemini", kept ?? ""), "utf8")).toBe("{ my edits, ");
  expect(settings()).toHaveProperty("tools.core");
  expect(logged.join("")).toMatch(/^\[WARN\] .*settings\.json is not valid JSON/);
});

test("processes that create working directories at the same time leave one whole settings file (B8)", async () => {
  const directories = await Promise.all(Array.from({ length: 20 }, () => open().createCallDirectory(request())));
  expect(settings()).toHaveProperty("tools.core");
  expect(readdirSync(join(home, ".gemini"))).toEqual(["settings.json"]);
  expect(new Set(directories.map(({ cliHome }) => cliHome)).size).toBe(20);
});

test("credential files are linked, so that a renewed token reaches the user's own file (C4)", async () => {
  const file = join(folder, "oauth_creds.json");
  writeFileSync(file, "old");
  const signIn = {
    by: "own" as const,
    type: "oauth-personal",
    credentialFiles: [file, join(folder, "gone.json")],
    variables: {},
  };
  const directory = await open().createCallDirectory(request({ signIn }));
  const linked = join(directory.cliHome, ".gemini", "oauth_creds.json");
  expect(lstatSync(linked).isSymbolicLink()).toBe(true);
  expect(readlinkSync(linked)).toBe(file);
  writeFileSync(linked, "new");
  await directory.remove();
  expect(readFileSync(file, "utf8")).toBe("new");
});

test("the compile cache of an earlier version is removed", async () => {
  const program = join(folder, "gemini");
  writeFileSync(program, "1");
  const first = await open().compileCache(program);
  writeFileSync(join(first, "code"), "x");
  expect(await open().compileCache(program)).toBe(first);
  writeFileSync(program, "another version");
  const second = await open().compileCache(program);
  expect(second).not.toBe(first);
  expect(readdirSync(join(home, "compile-cache"))).toHaveLength(1);
});
