/** `init` through the built command line: every client in a temporary home, whose own settings are preserved. */

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "smol-toml";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type CommandOptions, startCommand } from "../kit/server/command.ts";
import { BIN, temporaryDirectory, TEST_KEY } from "../kit/server/server.ts";

const FILES = {
  "claude-code": [".claude.json", '{\n  "numStartups": 3,\n  "mcpServers": {}\n}'],
  "claude-desktop": [".config/Claude/claude_desktop_config.json", '{\n  "theme": "dark"\n}\n'],
  cursor: [".cursor/mcp.json", '{\n\t// mine\n\t"mcpServers": {\n\t\t"a": { "command": "b" }, // last\n\t},\n}\n'],
  vscode: [".config/Code/User/mcp.json", '\uFEFF{\r\n    "servers": {},\r\n    "inputs": []\r\n}\r\n'],
  codex: [".codex/config.toml", '# mine\nmodel = "x"\n\n[mcp_servers.a] # theirs\ncommand = "b"'],
  "gemini-cli": [".gemini/settings.json", "{}"],
  antigravity: [".gemini/config/mcp_config.json", '{\n  "mcpServers": {}\n}\n'],
  opencode: [".config/opencode/opencode.json", '{\n  "$schema": "https://opencode.ai/config.json"\n}\n'],
  windsurf: [".codeium/windsurf/mcp_config.json", '{\n  "mcpServers": {\n  }\n}\n'],
  zed: [".config/zed/settings.json", '// Zed settings\n{\n  "theme": "One Dark", // mine\n  "vim_mode": true,\n}\n'],
  "lm-studio": [".lmstudio/mcp.json", '{\n  "mcpServers": {}\n}'],
} as const;
type ClientName = keyof typeof FILES;
/** They have no project files, or none that could be verified. */
const USER_ONLY = ["claude-desktop", "windsurf", "zed", "lm-studio"];
const WITHOUT_URLS = ["claude-desktop", "zed", "lm-studio"];
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a constant
const NAMES = Object.keys(FILES) as ClientName[];

const answerSchema = z.looseObject({
  success: z.boolean(),
  clients: z.array(
    z.looseObject({
      client: z.string(),
      action: z.string(),
      state: z.string().optional(),
      diff: z.string().optional(),
      backup: z.string().optional(),
      error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
    }),
  ),
  remarks: z.array(z.string()),
});

interface Home {
  home: string;
  file(name: ClientName): string;
  text(name: ClientName): string;
  /** Every file of the clients, by its path in the home, with its content. */
  all(): Record<string, string>;
  run(args: string[], options?: Partial<CommandOptions>): ReturnType<typeof startCommand>["ended"];
  json(args: string[], options?: Partial<CommandOptions>): Promise<z.infer<typeof answerSchema>>;
}

function openHome(clients: readonly ClientName[] = NAMES): Home {
  const home = temporaryDirectory();
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const project = join(home, "project");
  mkdirSync(project);
  for (const name of clients) {
    const [path, content] = FILES[name];
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content, { mode: 0o640 });
  }
  // Assistants are searched for on PATH, too.
  const env = { PATH: dirname(process.execPath), HOME: home, GEMINI_SEARCH_CONFIG_DIR: join(home, "ours") };
  const run: Home["run"] = (args, options = {}) =>
    startCommand(["init", ...args], { cwd: project, ...options, env: { ...env, ...options.env } }).ended;
  const file = (name: ClientName): string => join(home, FILES[name][0]);
  return {
    home,
    file,
    text: (name) => readFileSync(file(name), "utf8"),
    all: () =>
      Object.fromEntries(
        readdirSync(home, { recursive: true, encoding: "utf8" })
          .filter((path) => !path.startsWith("ours") && statSync(join(home, path)).isFile())
          .map((path) => [path, readFileSync(join(home, path), "utf8")]),
      ),
    run,
    json: async (args, options) => answerSchema.parse(JSON.parse((await run([...args, "--json"], options)).stdout)),
  };
}

const original = Object.fromEntries(Object.values(FILES));
const isBackup = (path: string): boolean => path.includes(".backup-");

describe("init with every client", () => {
  test("writes each in its own format, keeps a backup, then has nothing to do, and --remove takes out its entry alone", async () => {
    const { json, all, text, file } = openHome();
    const added = await json(["--yes"], { env: { GEMINI_API_KEY: TEST_KEY } });
    expect(added.success).toBe(true);
    expect(added.clients.map(({ client, action }) => [client, action])).toEqual(NAMES.map((name) => [name, "added"]));
    expect(JSON.parse(text("claude-code"))).toMatchObject({
      numStartups: 3,
      mcpServers: {
        "gemini-search": { type: "stdio", args: [BIN], env: { GEMINI_API_KEY: "${GEMINI_API_KEY:-}" } },
      },
    });
    expect(parse(text("codex"))).toMatchObject({
      model: "x",
      mcp_servers: { a: { command: "b" }, "gemini-search": { args: [BIN], env_vars: ["GEMINI_API_KEY"] } },
    });
    expect(JSON.parse(text("opencode"))).toMatchObject({
      mcp: {
        "gemini-search": { command: [expect.any(String), BIN], environment: { GEMINI_API_KEY: expect.any(String) } },
      },
    });
    expect(JSON.parse(text("antigravity"))).toMatchObject({ mcpServers: { "gemini-search": { args: [BIN] } } });
    expect(text("zed")).toContain('"theme": "One Dark", // mine\n');
    expect(text("cursor")).toContain('"a": { "command": "b" }, // last\n');
    expect(text("vscode").startsWith("\uFEFF{\r\n")).toBe(true);
    expect(text("vscode").replaceAll("\r\n", "")).not.toContain("\n");
    for (const { backup } of added.clients) expect(statSync(backup ?? "").mode & 0o777).toBe(0o640);
    for (const name of NAMES) expect(statSync(file(name)).mode & 0o777).toBe(0o640);
    expect(JSON.stringify([all(), added])).not.toContain(TEST_KEY);

    const before = all();
    expect(Object.keys(before).filter(isBackup)).toHaveLength(NAMES.length);
    const again = await json(["--yes"]);
    expect(again.clients.map(({ action, state }) => [action, state])).toEqual(NAMES.map(() => ["none", "configured"]));
    expect(all()).toEqual(before);

    const removed = await json(["--remove", "--yes"]);
    expect(removed.clients.map(({ action }) => action)).toEqual(NAMES.map(() => "removed"));
    for (const name of NAMES) expect(text(name)).not.toContain("gemini-search");
    expect(parse(text("codex"))).toEqual({ model: "x", mcp_servers: { a: { command: "b" } } });
    expect(JSON.parse(text("claude-code"))).toEqual({ numStartups: 3, mcpServers: {} });
    expect(text("zed")).toContain('"theme": "One Dark", // mine\n');
    expect(text("cursor")).toContain('"a": { "command": "b" }');
  });

  test("--dry-run shows the lines and writes nothing; a pipe without --yes is refused", async () => {
    const { run, all } = openHome();
    const planned = await run(["--dry-run", "codex"]);
    expect(planned.code).toBe(0);
    expect(planned.stdout).toContain("\n+ [mcp_servers.gemini-search]\n");
    expect(planned.stdout).toContain("nothing was written");
    const refused = await run([], { stdin: "y\ny\ny\n" });
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("Claude Code (not connected)");
    expect(refused.stderr).toContain("--yes");
    const json = await run(["--json"]);
    expect([json.code, JSON.parse(json.stdout)]).toEqual([
      2,
      expect.objectContaining({ success: false, error: expect.objectContaining({ code: "INVALID_INPUT" }) }),
    ]);
    expect(all()).toEqual(original);
  });

  test("an error in one file does not stop the others", async () => {
    const { json, text, file } = openHome();
    writeFileSync(file("cursor"), '{\n  "mcpServers": {\n    "a": \n  }\n}');
    writeFileSync(file("codex"), "a = \n");
    writeFileSync(file("gemini-cli"), '{"mcpServers": {"gemini-search": {"command": "npx", "args": ["another"]}}}');
    chmodSync(file("vscode"), 0o444);
    const { success, clients } = await json(["--yes"]);
    expect(success).toBe(false);
    expect(clients.map(({ client, action, error }) => [client, action, error?.code])).toEqual([
      ["claude-code", "added", undefined],
      ["claude-desktop", "added", undefined],
      ["cursor", "failed", "INVALID_INPUT"],
      ["vscode", "failed", "PERMISSION_DENIED"],
      ["codex", "failed", "INVALID_INPUT"],
      ["gemini-cli", "failed", "INVALID_INPUT"],
      ["antigravity", "added", undefined],
      ["opencode", "added", undefined],
      ["windsurf", "added", undefined],
      ["zed", "added", undefined],
      ["lm-studio", "added", undefined],
    ]);
    const saying = (name: ClientName) => clients.find(({ client }) => client === name)?.error?.message;
    expect(saying("cursor")).toContain("mcp.json, line 4: This is not valid JSON. The file was not touched.");
    expect(saying("codex")).toContain("config.toml, line 1: This is not valid TOML.");
    expect(saying("gemini-cli")).toContain("belongs to another server");
    expect(text("codex")).toBe("a = \n");
    expect(text("gemini-cli")).toContain("another");
  });
});

describe("init", () => {
  test("finds clients only where they are installed, and says so if there are none", async () => {
    const one = openHome(["codex"]);
    expect((await one.json(["--yes"])).clients.map(({ client }) => client)).toEqual(["codex"]);
    const none = openHome([]);
    expect(await none.run(["--yes"])).toMatchObject({ code: 2, stdout: "" });
    expect((await none.run(["--yes", "nonsense"])).code).toBe(2);
    expect(await none.run(["--yes", "gemini-cli"])).toMatchObject({ code: 0 });
    expect(existsSync(none.file("gemini-cli"))).toBe(true);
  });

  test("--scope project writes into the project, for clients that have project files", async () => {
    const { json, home, all } = openHome();
    const { clients } = await json(["--yes", "--scope", "project"]);
    const withProjects = NAMES.filter((name) => !USER_ONLY.includes(name));
    expect(clients.map(({ client }) => client).toSorted()).toEqual(withProjects.toSorted());
    const made = [
      ".mcp.json",
      ".cursor/mcp.json",
      ".vscode/mcp.json",
      ".codex/config.toml",
      ".gemini/settings.json",
      ".agents/mcp_config.json",
      "opencode.json",
    ];
    expect(made.map((path) => existsSync(join(home, "project", path)))).toEqual(made.map(() => true));
    expect(all()).toMatchObject(original);
    const named = await json(["--yes", "--scope", "project", "claude-desktop"]);
    expect(named.clients[0]?.error?.message).toContain("no project files");
  });

  test("the config directory that was chosen is written for each client, but not into shared files (B5)", async () => {
    const { run, json, text, home } = openHome();
    const chosen = { GEMINI_SEARCH_CONFIG_DIR: join(home, "ours") };
    expect((await json(["--yes"])).success).toBe(true);
    const entry = { "gemini-search": { env: chosen } };
    expect(JSON.parse(text("claude-code"))).toMatchObject({ mcpServers: entry });
    expect(JSON.parse(text("claude-desktop"))).toMatchObject({ mcpServers: entry });
    expect(parse(text("codex"))).toMatchObject({ mcp_servers: entry });
    expect(JSON.parse(text("opencode"))).toMatchObject({ mcp: { "gemini-search": { environment: chosen } } });
    await run(["--yes", "--scope", "project", "claude-code"]);
    expect(readFileSync(join(home, "project", ".mcp.json"), "utf8")).not.toContain("GEMINI_SEARCH_CONFIG_DIR");
    await run(["--yes", "--name", "second", "zed"], { env: { GEMINI_SEARCH_CONFIG_DIR: "" } });
    expect(text("zed").split("GEMINI_SEARCH_CONFIG_DIR")).toHaveLength(2);
  });

  test("--http names the token, --write-token writes it and shows it nowhere", async () => {
    const { run, text, all } = openHome();
    const token = "a-token-of-more-than-16";
    const env = { MCP_AUTH_TOKEN: token, MCP_SERVER_PORT: "4321" };
    const names = NAMES.filter((name) => !WITHOUT_URLS.includes(name));
    const { code, stdout, stderr } = await run(["--yes", "--http", ...names], { env });
    expect(code).toBe(0);
    expect(stdout).toContain("http://127.0.0.1:4321/mcp");
    expect(stdout + stderr + JSON.stringify(all())).not.toContain(token);
    expect(JSON.parse(text("gemini-cli"))).toMatchObject({
      mcpServers: { "gemini-search": { type: "http", headers: { Authorization: "Bearer $MCP_AUTH_TOKEN" } } },
    });
    const written = await run(["--yes", "--http", "--write-token", ...names], { env });
    expect(written.code).toBe(0);
    expect(written.stdout + written.stderr).not.toContain(token);
    expect(written.stdout).toContain("chmod 600");
    for (const name of names) expect(text(name)).toContain(`Bearer ${token}`);
    const refused = await run(["--yes", "--http", "--write-token", "--scope", "project"], { env });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("cannot be used with project files")]);
    const desktop = await run(["--yes", "--http", "claude-desktop"], { env });
    expect([desktop.code, desktop.stdout]).toEqual([1, expect.stringContaining("accepts only commands")]);
  });

  test("--name accepts what clients accept", async () => {
    const { run, text } = openHome(["gemini-cli"]);
    for (const name of ["one", "two"]) expect((await run(["--yes", "--name", name])).code).toBe(0);
    expect(Object.keys(JSON.parse(text("gemini-cli"))["mcpServers"])).toEqual(["one", "two"]);
    for (const name of ["a b", "", "a.b", "x".repeat(65)]) expect((await run(["--yes", "--name", name])).code).toBe(2);
  });

  test("shows no value of other entries, neither as text nor as JSON", async () => {
    const { run, file } = openHome(["codex", "cursor"]);
    writeFileSync(
      file("cursor"),
      '{"mcpServers": {\n"a": {"args": ["--api-key", "sk-SECRET"],\n"env": {"PAT": "SECRET"}}\n}}',
    );
    writeFileSync(file("codex"), "[mcp_servers.a]\nenv.URL = 'postgres://u:SECRET@h'\n");
    for (const args of [
      ["--dry-run"],
      ["--dry-run", "--json"],
      ["--yes", "--json", "--diff"],
      ["--remove", "--yes", "--diff"],
    ]) {
      const { code, stdout, stderr } = await run(args);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/[+-] .*gemini-search/)]);
      expect(stdout + stderr).not.toContain("SECRET");
    }
  });

  test("names what is still missing: a key, and what Claude Desktop cannot pass on", async () => {
    const { run, home } = openHome(["claude-desktop"]);
    const file = join(home, "ours", "config.json");
    const without = await run(["--dry-run"]);
    expect(without.stdout).toContain("No key is set. Get one at https://aistudio.google.com/apikey");
    const env = { GEMINI_API_KEY: TEST_KEY };
    const inEnvironment = await run(["--dry-run"], { env });
    expect(inEnvironment.stdout).toContain("Claude Desktop can't pass on your key.");
    expect(inEnvironment.stdout).toContain("gemini-search-mcp init --save-key");
    expect((await run(["--dry-run", "--save-key"], { env })).code).toBe(0);
    expect(existsSync(file)).toBe(false);
    expect((await run(["--yes", "--save-key"])).stderr).toContain("there is no key to save");
    const saved = await run(["--yes", "--save-key"], { env });
    expect([saved.code, saved.stdout]).toEqual([0, expect.stringContaining("Your key is saved in ~/ours/config.json")]);
    expect(saved.stdout).not.toContain("can't pass on");
    expect(saved.stdout).not.toContain(TEST_KEY);
    expect([JSON.parse(readFileSync(file, "utf8")), statSync(file).mode & 0o777]).toEqual([env, 0o600]);
    expect((await run(["--dry-run"])).stdout).not.toContain("GEMINI_API_KEY");
  });

  test("reports an unknown home directory, and writes nothing into the working directory", async () => {
    const { run, home } = openHome([]);
    const { code, stderr } = await run(["--yes", "codex"], { env: { HOME: "" } });
    expect([code, stderr]).toEqual([2, expect.stringContaining("user's home directory is unknown")]);
    expect(readdirSync(join(home, "project"))).toEqual([]);
  });
});
