import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse as parseJsonc } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { expect, onTestFinished, test } from "vitest";
import { CLIENTS } from "./clients.ts";
import { replaceConfigFile } from "./config-file.ts";
import type { Entry } from "./entry-format.ts";
import { planChange, type PlanRequest } from "./plan.ts";

const launch = { command: "gemini-search-mcp", args: [] };

function requestFor(name: string, content?: string): PlanRequest & { entry: Entry } {
  const client = CLIENTS.find((one) => one.name === name);
  if (client === undefined) throw new Error(`no client ${name}`);
  const folder = mkdtempSync(join(tmpdir(), "gemini-search-plan-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "config");
  if (content !== undefined) writeFileSync(file, content);
  return { client, file, newMode: 0o600, name: "gemini-search", entry: client.stdio(launch) };
}

async function carryOut(request: PlanRequest): Promise<void> {
  const { config, text } = await planChange(request);
  await replaceConfigFile(config, text, { now: new Date() });
}

const JSON_FILES = ["", "{}", " \n", "{\n}\n", '{"a":1}', '{\n  "CONTAINER": {}\n}', '{\n  "CONTAINER": {\n  },\n}\n'];
const TOML_FILES = ["", "a = 1", "a = 1\n", "# only a remark", "[mcp_servers]\n", "a = 1\r\n\r\n\r\n"];

test.each(
  CLIENTS.flatMap(({ name, format, container }) =>
    (format === "json" ? JSON_FILES : TOML_FILES).map((text) => [name, text.replace("CONTAINER", container)] as const),
  ),
)("%s: adding and removing an entry leaves the rest of %j as it was", async (name, content) => {
  const request = requestFor(name, content);
  const { container, format } = request.client;
  const contentOf = (text: string): object => ({
    ...(format === "toml" ? parseToml(text) : parseJsonc(text)),
    [container]: {},
  });
  expect((await planChange(request)).state).toBe("not configured");
  await carryOut(request);
  expect(await planChange(request)).toMatchObject({ state: "configured", diff: "" });
  await carryOut({ ...request, entry: undefined });
  const left = readFileSync(request.file, "utf8");
  expect(contentOf(left)).toEqual(contentOf(content));
  for (const remark of content.match(/#.*/g) ?? []) expect(left).toContain(remark);
});

test("a removal after other changes removes the entry alone", async () => {
  const request = requestFor("cursor", "{}");
  await carryOut(request);
  writeFileSync(request.file, readFileSync(request.file, "utf8").replace("{", '{\n  "new": true,'));
  await carryOut({ ...request, entry: undefined });
  expect(JSON.parse(readFileSync(request.file, "utf8"))).toEqual({ new: true, mcpServers: {} });
});

const only = (entry: Entry): string => JSON.stringify({ mcpServers: { "gemini-search": entry } });

test("the user's settings of the entry are kept; the start command is ours", async () => {
  const theirs = { command: "node", args: ["/old/gemini-search-mcp.js"], env: { GEMINI_API_KEY: "own", A: "b" } };
  const request = requestFor("gemini-cli", only({ ...theirs, timeout: 5, trust: true }));
  const { state, text } = await planChange(request);
  expect(state).toBe("differs");
  expect(JSON.parse(text)).toEqual({
    mcpServers: { "gemini-search": { ...launch, env: theirs.env, timeout: 5, trust: true } },
  });
});

test("an entry of the same name that is not ours is recognised", async () => {
  const state = async (entry: Entry, known?: string) =>
    (await planChange({ ...requestFor("cursor", only(entry)), url: known })).state;
  expect(await state({ command: "npx", args: ["-y", "another-server"] })).toBe("name taken");
  expect(await state({ url: "https://example.com/mcp" })).toBe("name taken");
  expect(await state({ url: "https://example.com/mcp" }, "https://example.com/mcp")).toBe("differs");
  expect(await state({ url: "http://localhost:3000/mcp" })).toBe("differs");
  expect(await state({ command: "/usr/bin/gemini-search-mcp" })).toBe("differs");
});

test("changing from a command to an address and back leaves nothing of the other", async () => {
  const request = requestFor("codex", '[mcp_servers.gemini-search]\ncommand = "gemini-search-mcp"\nenv_vars = ["A"]\n');
  const address = { url: "http://127.0.0.1:3000/mcp" };
  const { text } = await planChange({ ...request, entry: request.client.http?.(address) });
  expect(text).not.toContain("command");
  expect(text).not.toContain("env_vars");
  writeFileSync(request.file, text);
  const withToken = { ...request, entry: request.client.http?.({ ...address, token: "value" }), renewToken: true };
  const renewed = await planChange(withToken);
  expect(renewed.text).not.toContain("bearer_token_env_var");
  expect(renewed.text).toContain("Bearer value");
  expect(renewed.diff).not.toContain("Bearer value");
});

const NEIGHBOUR = {
  "claude-code": `{
  "mcpServers": {
    "other": {
      "args": ["--api-key", "sk-SECRET", "-v"], // was: SECRET
      "env": { "GITHUB_PAT": "ghp_SECRET", "DATABASE_URL": "postgres://u:SECRET@h", "REF": "\${A:-SECRET}", "Q": "a\\"SECRET" }
    }
  }
}
`,
  codex: `[mcp_servers.other]
command = "b"
env.PEM = """
SECRET
"""
args = ['--token', 'SECRET', "SECRET"] # SECRET
`,
};

test.each(Object.entries(NEIGHBOUR))(
  "the change for %s is shown as our entry alone, without any value of another server",
  async (name, text) => {
    const request = requestFor(name, text);
    const { diff, text: after } = await planChange(request);
    expect(diff).toMatch(/^\+.*command.*"gemini-search-mcp"/m);
    expect(diff).toContain("GEMINI_API_KEY");
    expect(diff).not.toMatch(/SECRET|other/);
    await carryOut(request);
    const removal = await planChange({ ...request, entry: undefined });
    expect(after).toContain("SECRET");
    expect(removal.diff).toBe(`- ${request.client.container}.gemini-search`);
    await carryOut({ ...request, entry: undefined });
    expect((await planChange({ ...request, entry: undefined })).diff).toBe("");
  },
);

test("a shown change hides what the user added to our entry, a written token, and another server's entry of our name", async () => {
  const added = JSON.stringify({
    mcpServers: { "gemini-search": { command: "npx", args: ["-y", "gemini-search-mcp"], env: { A: "SECRET" } } },
  });
  const { diff, text } = await planChange(requestFor("claude-code", added));
  expect(text).toContain("SECRET");
  expect(diff).not.toContain("SECRET");
  const taken = JSON.stringify({ mcpServers: { "gemini-search": { command: "x", args: ["SECRET"] } } });
  expect((await planChange(requestFor("claude-code", taken))).diff).not.toContain("SECRET");
  const request = requestFor("claude-code", "{}");
  const entry = request.client.http?.({ url: "http://127.0.0.1:3000/mcp", token: "SECRET" });
  const written = await planChange({ ...request, entry });
  expect(written.text).toContain("Bearer SECRET");
  expect(written.diff).toContain("http://127.0.0.1:3000/mcp");
  expect(written.diff).not.toContain("SECRET");
});
