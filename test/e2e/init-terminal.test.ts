/** `init` at a terminal: it asks which clients and shows every change before it is written. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { atTerminal, CONTROL_C, type Dialogue, DOWN, ENTER, hasDialogues as canAsk } from "../kit/server/dialogue.ts";
import { openScene } from "../kit/server/scene.ts";
import { BIN, isolatedEnvironment, temporaryDirectory, TEST_KEY } from "../kit/server/server.ts";

const ASKED = "Google's links to sources stop working after 30 days";

/** Nothing but Node.js is on PATH, and Google cannot be reached. */
const environmentOf = (home: string): Record<string, string> => ({
  ...isolatedEnvironment(join(home, "ours")),
  HOME: home,
  PATH: dirname(process.execPath),
  GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:9",
});

const answer = (home: string, dialogue: Dialogue, { args = "", env = {} } = {}) =>
  atTerminal(`init ${args}`, { env: { ...environmentOf(home), ...env }, cwd: home, dialogue });

const SKIPPED: Dialogue[number] = ["Enter to skip", ENTER];
const CHOSEN: Dialogue[number] = ["Enter: confirm", ENTER];
const WRITTEN: Dialogue[number] = ["Write this change for Codex?", ENTER];

function openHome(): string {
  const home = temporaryDirectory();
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  for (const folder of [".codex", ".gemini", "ours"]) mkdirSync(join(home, folder));
  writeFileSync(join(home, ".codex/config.toml"), 'model = "x"\n');
  writeFileSync(join(home, ".gemini/settings.json"), '{"mcpServers":{"gemini-search":{"command":"another"}}}');
  return home;
}

test.skipIf(!canAsk)("clients are chosen, and a change is shown and written after a yes", async () => {
  const home = openHome();
  const { code, seen } = await answer(home, [SKIPPED, CHOSEN, WRITTEN, ["Ask me next time", ENTER]], {
    env: { BUDGET_DAY_USD: "20/60" },
  });
  expect(code).toBe(0);
  expect(seen).toContain("Codex (not connected)");
  expect(seen).toContain("Gemini CLI (name taken by another server)");
  const shown = seen.indexOf("Codex: adds gemini-search to ~/.codex/config.toml");
  expect(shown).toBeGreaterThan(0);
  expect(shown).toBeLessThan(seen.indexOf("Write this change"));
  expect(seen).not.toContain("+[mcp_servers.gemini-search]");
  expect(seen).toContain("Now ask Codex:");
  const budget = seen.replaceAll(/\s+/g, " ");
  expect(budget).toContain(
    "Budget: $20 a day. Above it you are asked before research is started. Above $60 nothing is started.",
  );
  expect(budget).toContain("BUDGET_DAY_USD changes it.");
  expect(readFileSync(join(home, ".codex/config.toml"), "utf8")).toContain("[mcp_servers.gemini-search]");
  // Other servers' entries are not proposed.
  expect(readFileSync(join(home, ".gemini/settings.json"), "utf8")).toContain("another");
});

test.skipIf(!canAsk)("a no leaves the file unchanged; Ctrl-C exits with 130", async () => {
  const home = openHome();
  const declined = await answer(home, [SKIPPED, CHOSEN, [WRITTEN[0], "n"], ["Ask me next time", DOWN + DOWN + ENTER]]);
  expect([declined.code, declined.seen]).toEqual([0, expect.stringContaining("Codex: left unchanged")]);
  expect((await answer(home, [SKIPPED, CHOSEN, [WRITTEN[0], CONTROL_C]])).code).toBe(130);
  expect((await answer(home, [SKIPPED, [CHOSEN[0], CONTROL_C]])).code).toBe(130);
  expect((await answer(home, [[SKIPPED[0], CONTROL_C]])).code).toBe(130);
  expect(readdirSync(join(home, ".codex"))).toEqual(["config.toml"]);
  expect(readFileSync(join(home, ".codex/config.toml"), "utf8")).toBe('model = "x"\n');
});

test.skipIf(!canAsk)("with --diff the lines are shown before the question", async () => {
  const home = openHome();
  const { code, seen } = await answer(home, [SKIPPED, CHOSEN, [WRITTEN[0], "n"], ["Ask me next time", ENTER]], {
    args: "--diff",
  });
  expect(code).toBe(0);
  expect(seen.indexOf("+[mcp_servers.gemini-search]")).toBeLessThan(seen.indexOf("Write this change"));
});

const ourConfig = (home: string): string => join(home, "ours/config.json");

test.skipIf(!canAsk)(
  "the question whether to resolve redirect links is asked once; Enter means no and is stored (T-3)",
  async () => {
    const home = openHome();
    const first = await answer(home, [SKIPPED, CHOSEN, WRITTEN, ["Ask me next time", ENTER]]);
    expect(first.code).toBe(0);
    expect(first.seen).toContain("Google's terms leave this decision to you: they name");
    expect(first.seen).toContain("Reports keep Google's links");
    expect(JSON.parse(readFileSync(ourConfig(home), "utf8"))).toEqual({ RESOLVE_SOURCE_LINKS: false });
    expect(statSync(ourConfig(home)).mode & 0o777).toBe(0o600);
    const second = await answer(home, [SKIPPED, CHOSEN]);
    expect([second.code, second.seen]).toEqual([0, expect.not.stringContaining(ASKED)]);
  },
);

test.skipIf(!canAsk)(
  "a yes keeps comments and other keys of config.json, and applies to the next process (T-3)",
  async () => {
    const home = openHome();
    const before = '{\n  // mine\n  "GEMINI_MODEL": "mine", // and this\n  "NOT_OURS": { "a": [1] }\n}\n';
    writeFileSync(ourConfig(home), before);
    const { code, seen } = await answer(home, [SKIPPED, CHOSEN, WRITTEN, ["Ask me next time", DOWN + ENTER]]);
    expect([code, seen]).toEqual([0, expect.stringContaining("Reports will have the real addresses of their sources")]);
    // The last comma belongs to the previous entry; the rest is unchanged.
    expect(readFileSync(ourConfig(home), "utf8")).toBe(
      before.replace("] }\n}", '] },\n  "RESOLVE_SOURCE_LINKS": true\n}'),
    );
    // It may contain a key, so no copy is left behind.
    expect(readdirSync(join(home, "ours")).filter((name) => name.includes("config.json"))).toEqual(["config.json"]);
    const doctor = spawnSync(process.execPath, [BIN, "doctor", "--json"], {
      env: { ...environmentOf(home) },
      encoding: "utf8",
    });
    expect(doctor.stdout).toContain("Google's redirect links are resolved once");
  },
);

test.skipIf(!canAsk)(
  "the question about links can be postponed, and is not asked of scripts or once answered (T-3)",
  async () => {
    const home = openHome();
    const later = await answer(home, [SKIPPED, CHOSEN, WRITTEN, ["Ask me next time", DOWN + DOWN + ENTER]]);
    expect([later.code, existsSync(ourConfig(home))]).toEqual([0, false]);
    const left = await answer(home, [SKIPPED, CHOSEN, ["Ask me next time", CONTROL_C]]);
    expect([left.code, existsSync(ourConfig(home))]).toEqual([130, false]);
    const cases = [
      { args: "--yes codex" },
      { args: "--dry-run codex" },
      { args: "--remove codex", dialogue: [WRITTEN] },
      { args: "codex", dialogue: [SKIPPED, WRITTEN], env: { RESOLVE_SOURCE_LINKS: "false" } },
    ];
    for (const { args, env = {}, dialogue = [] } of cases) {
      const { code, seen } = await answer(home, dialogue, { args, env });
      expect([args, code, seen]).toEqual([args, 0, expect.not.stringContaining(ASKED)]);
    }
    expect(existsSync(ourConfig(home))).toBe(false);
  },
);

test.skipIf(!canAsk)("a config.json that cannot be read is left unchanged, and init says so (T-3, B1)", async () => {
  const home = openHome();
  writeFileSync(ourConfig(home), '{ "GEMINI_MODEL": ');
  const { code, seen } = await answer(home, [SKIPPED, CHOSEN, WRITTEN]);
  expect([code, seen]).toEqual([0, expect.stringContaining("RESOLVE_SOURCE_LINKS could not be saved")]);
  expect(readFileSync(ourConfig(home), "utf8")).toBe('{ "GEMINI_MODEL": ');
});

test.skipIf(!canAsk)("several clients, found on PATH too, are written after one question", async () => {
  const home = openHome();
  mkdirSync(join(home, "bin"));
  for (const program of ["claude", "code"]) writeFileSync(join(home, "bin", program), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(home, ".gemini/settings.json"), "{}");
  mkdirSync(join(home, ".config/opencode"), { recursive: true });
  const env = { PATH: `${join(home, "bin")}:${dirname(process.execPath)}`, RESOLVE_SOURCE_LINKS: "false" };
  const { code, seen } = await answer(home, [SKIPPED, CHOSEN, ["Write these 5 changes?", ENTER]], { env });
  expect(code).toBe(0);
  for (const title of ["Claude Code", "VS Code", "Codex", "Gemini CLI", "OpenCode"])
    expect(seen).toContain(`${title}: connected`);
  expect(seen).toContain("choose “Trust folder”");
  expect(seen.replaceAll(/\s+/g, " ")).toContain('"permission": { "*_start_deep_research": "ask" }');
  expect(seen).toContain("choose Restart in /daemon");
  expect(seen).toContain("Now ask your assistant:");
  expect(JSON.parse(readFileSync(join(home, ".claude.json"), "utf8"))).toHaveProperty("mcpServers.gemini-search");
});

test.skipIf(!canAsk)(
  "a key is tested at Google, saved for its owner only, and tried with one search",
  async (context) => {
    const { gemini } = await openScene(context);
    const home = openHome();
    writeFileSync(ourConfig(home), '{\n  // mine\n  "GEMINI_API_KEY": "", // empty\n  "SEARCH_BACKEND": "api"\n}\n', {
      mode: 0o644,
    });
    const env = { GOOGLE_GEMINI_BASE_URL: gemini.url, RESOLVE_SOURCE_LINKS: "false" };
    const { code, seen } = await answer(
      home,
      [
        ["Enter to skip", TEST_KEY + ENTER],
        ["Save the key in", ENTER],
        CHOSEN,
        WRITTEN,
        ["It costs about a cent", ENTER],
      ],
      { env },
    );
    expect(code).toBe(0);
    expect(seen).toContain("https://aistudio.google.com/apikey");
    expect(seen).toContain("Your Gemini API key works.");
    expect(seen).not.toContain(TEST_KEY);
    expect(readFileSync(ourConfig(home), "utf8")).toBe(
      `{\n  // mine\n  "GEMINI_API_KEY": "${TEST_KEY}", // empty\n  "SEARCH_BACKEND": "api"\n}\n`,
    );
    expect(statSync(ourConfig(home)).mode & 0o777).toBe(0o600);
    expect(gemini.ledger.countByKind()).toEqual({ search: 1 });
    expect(seen.indexOf("Now ask Codex:")).toBeGreaterThan(seen.indexOf("It costs about a cent"));
    // The next init finds it, tests it and asks for none; a no to the trial costs nothing.
    const again = await answer(home, [CHOSEN, ["It costs about a cent", "n"]], { env });
    expect([again.code, again.seen]).toEqual([0, expect.stringContaining("Your Gemini API key works.")]);
    expect(gemini.ledger.countByKind()).toEqual({ search: 1 });
  },
);

test.skipIf(!canAsk)("a key that Google rejects is asked for again, and neither saved nor tried", async (context) => {
  const { gemini } = await openScene(context, { name: "refused", refuses: "key-invalid" });
  const home = openHome();
  const env = { GOOGLE_GEMINI_BASE_URL: gemini.url, RESOLVE_SOURCE_LINKS: "false" };
  const dialogue: Dialogue = [
    ["Enter to skip", `a wrong key${ENTER}`],
    ["no spaces", CONTROL_C],
  ];
  expect((await answer(home, dialogue, { env })).code).toBe(130);
  const rejected: Dialogue = [
    ["Enter to skip", TEST_KEY + ENTER],
    ["Google rejects this key", ""],
    SKIPPED,

    CHOSEN,
    WRITTEN,
  ];
  const { code, seen } = await answer(home, rejected, { env });
  expect([code, seen]).toEqual([0, expect.not.stringContaining("Save the key")]);
  expect(seen).not.toContain("costs about a cent");
  expect(existsSync(ourConfig(home))).toBe(false);
});

test.skipIf(!canAsk)("a key without credits is saved, not asked for again, and not tried", async (context) => {
  const { gemini } = await openScene(context, { name: "refused", refuses: "http-402" });
  const home = openHome();
  const env = { GOOGLE_GEMINI_BASE_URL: gemini.url, RESOLVE_SOURCE_LINKS: "false" };
  const dialogue: Dialogue = [
    ["Enter to skip", TEST_KEY + ENTER],
    ["are used up. Add credits", ""],
    ["Save the key in", ENTER],
    CHOSEN,
    WRITTEN,
  ];
  const { code, seen } = await answer(home, dialogue, { env });
  expect([code, seen]).toEqual([0, expect.not.stringMatching(/could not be|costs about a cent/)]);
  expect(JSON.parse(readFileSync(ourConfig(home), "utf8"))).toEqual({ GEMINI_API_KEY: TEST_KEY });
});

test.skipIf(!canAsk)("without an assistant on the machine init still takes the key", async (context) => {
  const { gemini } = await openScene(context);
  const home = temporaryDirectory();
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const env = { GOOGLE_GEMINI_BASE_URL: gemini.url, GEMINI_API_KEY: TEST_KEY, RESOLVE_SOURCE_LINKS: "false" };
  const dialogue: Dialogue = [
    ["Save the key in", "y"],
    ["It costs about a cent", "n"],
  ];
  const { code, seen } = await answer(home, dialogue, { env });
  expect([code, seen]).toEqual([0, expect.stringContaining("No supported AI assistant was found.")]);
  expect(JSON.parse(readFileSync(ourConfig(home), "utf8"))).toEqual({ GEMINI_API_KEY: TEST_KEY });
});
