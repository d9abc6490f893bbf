/** A research run with the user's own files, pages, stores and MCP servers, through every front door. */

import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { openPageServer } from "../kit/browser/page-api.ts";
import { openResearch, QUERY, type ResearchScene, SLOW, untilStatus } from "../kit/server/research.ts";
import { waitFor } from "../kit/wait-for.ts";

const START = "start_deep_research";
/** Random, so that a stored copy of it would not be small. */
const PDF = `%PDF-1.7\n${randomBytes(60_000).toString("hex")}\n%%EOF\n`;
const CSV = "region,units\nnorth,12\n";
const SECRET = "crm-secret-never-real-9911";
const SERVERS = {
  crm: {
    url: "https://crm.example.com/mcp",
    headers: { Authorization: "Bearer ${CRM_TOKEN}" },
    allowed_tools: ["find_deals"],
  },
};

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A directory with files, and the settings with which they may be sent. */
function withMaterial(scene: Pick<ResearchScene, "configDir">) {
  const folder = join(scene.configDir, "material");
  mkdirSync(folder);
  const files = { "paper.pdf": PDF, "units.csv": CSV, "fake.pdf": "text", ".env.txt": "KEY=1" };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const at = (name: string): string => join(folder, name);
  const env = {
    GEMINI_SEARCH_FILE_ROOTS: folder,
    GEMINI_SEARCH_MCP_SERVERS: JSON.stringify(SERVERS),
    CRM_TOKEN: SECRET,
    RESEARCH_CONFIRM_ABOVE_USD: "100",
    // Inside the config directory nothing may be sent.
    GEMINI_SEARCH_CONFIG_DIR: join(scene.configDir, "config"),
    DEEP_RESEARCH_DB: join(scene.configDir, "deep_research.db"),
  };
  return { at, env, folder };
}

const lastStart = ({ gemini }: ResearchScene) =>
  gemini.ledger.entries().findLast(({ path }) => path.endsWith("/interactions"));

const SENT = {
  files: [
    { name: "paper.pdf", kind: "pdf", bytes: PDF.length, sha256: hashOf(PDF).slice(0, 12) },
    { name: "units.csv", kind: "csv", bytes: CSV.length, sha256: hashOf(CSV).slice(0, 12) },
  ],
  urls: ["https://example.com/report?year=2026"],
  file_search_stores: ["fileSearchStores/handbook"],
  mcp_servers: ["crm"],
};

const ATTACHED = [
  { type: "document", mimeType: "application/pdf", bytes: PDF.length, hash: hashOf(PDF) },
  { type: "document", mimeType: "text/plain", bytes: CSV.length, hash: hashOf(CSV) },
];

const TOOLS = ["google_search", "url_context", "code_execution", "file_search", "mcp_server"];

test("own material is sent once with the question, listed in the answers, and no secret is kept (V3)", async (context) => {
  const scene = await openResearch(context);
  const { at, env } = withMaterial(scene);
  const server = await scene.server({ env });
  const input = {
    query: QUERY,
    files: [at("paper.pdf"), at("units.csv")],
    urls: ["https://example.com/report?year=2026"],
    file_search_stores: ["fileSearchStores/handbook"],
    mcp_servers: ["crm"],
  };
  const { structured, text } = await server.call(START, input);
  expect(structured).toMatchObject({ success: true, material: SENT });
  expect(text).toContain("paper.pdf (pdf,");
  const entry = lastStart(scene);
  expect(entry).toMatchObject({ attachments: ATTACHED, tools: TOOLS });
  for (const part of [QUERY, "https://example.com/report?year=2026", "1. paper.pdf (PDF)", "2. units.csv (CSV)"])
    expect(entry?.question).toContain(part);
  const { task_id } = structured;
  await untilStatus(server, task_id, "completed");
  expect((await server.call("get_research_results", { task_id })).structured["material"]).toEqual(SENT);
  // The contents are needed only until the start is decided.
  await waitFor(() => expect(scene.sql("select task_id from research_files")).toEqual([]));
  const [kept] = scene.sql<{ bytes: number }>("select length(raw) as bytes from research_results");
  expect(kept?.bytes).toBeLessThan(40_000);
  expect((await server.call(START, input)).structured).toMatchObject({ joined: true, task_id });
  writeFileSync(at("units.csv"), `${CSV}south,7\n`);
  expect((await server.call(START, input)).structured).not.toHaveProperty("joined");
  expect([scene.posts(), scene.accepted()]).toEqual([2, 2]);
  await server.close();
  expect(server.stderr()).not.toContain(SECRET);
  for (const name of readdirSync(scene.configDir).filter((file) => file.startsWith("deep_research.db")))
    expect(readFileSync(join(scene.configDir, name)).includes(SECRET), name).toBe(false);
});

test("material that cannot be sent is refused in one sentence, and nothing is sent or charged (V3)", async (context) => {
  const scene = await openResearch(context);
  const { at, env, folder } = withMaterial(scene);
  writeFileSync(join(scene.configDir, "outside.txt"), "outside");
  symlinkSync(join(scene.configDir, "outside.txt"), at("link.txt"));
  const server = await scene.server({ env: { ...env, CRM_TOKEN: "" } });
  const refusals: [object, string][] = [
    [{ files: [join(scene.configDir, "outside.txt")] }, "outside.txt is outside the directories"],
    [{ files: [at("link.txt")] }, "link.txt is outside the directories"],
    [{ files: [folder] }, "material is not a regular file"],
    [{ files: [at("fake.pdf")] }, "fake.pdf is not a PDF"],
    [{ files: [at(".env.txt")] }, ".env.txt is hidden or private"],
    [{ files: Array.from({ length: 11 }, () => at("paper.pdf")) }, "files must have at most 10 entries"],
    [{ urls: ["file:///etc/passwd"] }, "urls must be http or https addresses"],
    [{ urls: ["https://user:password@example.com"] }, "urls must be http or https addresses"],
    [{ file_search_stores: ["handbook"] }, "file_search_stores must be names such as"],
    [{ mcp_servers: ["unknown"] }, "An MCP server was named that is not in the configuration"],
    [{ mcp_servers: ["https://evil.example.com"] }, "mcp_servers must be names"],
    [{ mcp_servers: ["crm"] }, "needs the environment variable CRM_TOKEN"],
  ];
  for (const [input, message] of refusals) {
    const { isError, structured } = await server.call(START, { query: QUERY, ...input });
    expect({ isError, error: structured["error"] }).toMatchObject({
      isError: true,
      error: { code: "INVALID_INPUT", message: expect.stringContaining(message) },
    });
  }
  expect(scene.posts()).toBe(0);
  // Google knows no such store: it refuses the start, which is not charged.
  const store = { file_search_stores: ["fileSearchStores/deleted"] };
  expect((await server.call(START, { query: QUERY, ...store })).structured).toMatchObject({ status: "failed" });
  expect([scene.posts(), scene.accepted()]).toEqual([1, 0]);
});

test("a confirmed restart sends the same files, even if they are gone, and nothing without its server (V3)", async (context) => {
  const scene = await openResearch(context, { create: [{ fault: "accept-then-reset" }, {}] });
  const { at, env } = withMaterial(scene);
  const first = await scene.server({ env });
  const input = { query: QUERY, files: [at("paper.pdf"), at("units.csv")], mcp_servers: ["crm"] };
  const { task_id, status } = (await first.call(START, input)).structured;
  expect(status).toBe("start_unknown");
  await first.close();
  rmSync(at("paper.pdf"));
  writeFileSync(at("units.csv"), "changed");
  const restart = { task_id, accept_possible_double_charge: true };
  const without = await scene.server({ env: { ...env, CRM_TOKEN: "" }, agrees: true });
  expect((await without.call("resume_research", restart)).structured).toMatchObject({
    status: "start_unknown",
    error: { message: expect.stringContaining("The research was not sent and nothing was charged.") },
  });
  expect(scene.posts()).toBe(1);
  const again = await scene.server({ env, agrees: true });
  expect((await again.call("resume_research", restart)).structured).toMatchObject({ status: "running_async" });
  expect(lastStart(scene)).toMatchObject({ attachments: ATTACHED, tools: expect.arrayContaining(["mcp_server"]) });
  expect([scene.posts(), scene.accepted()]).toEqual([2, 2]);
});

test("over HTTP no path is accepted, the page uploads instead, and only the operator uses stores and servers (V3)", async (context) => {
  const scene = await openPageServer(context, SLOW);
  const { at, env } = withMaterial(scene);
  const server = await scene.serve({ ...env, GEMINI_SEARCH_CONFIG_DIR: scene.configDir });
  const modern = await server.connect("modern");
  const { tools } = await modern.client.listTools();
  const { properties } = tools.find(({ name }) => name === START)?.inputSchema ?? {};
  expect(properties).toHaveProperty("urls");
  expect(properties).not.toHaveProperty("files");
  const files = [at("paper.pdf")];
  const overHttp = { error: { message: expect.stringContaining("files cannot be used over HTTP") } };
  expect((await modern.call(START, { query: QUERY, files })).structured).toMatchObject(overHttp);
  expect((await server.post("/api/research", { query: QUERY, files })).body).toMatchObject(overHttp);
  const data = (text: string): string => Buffer.from(text).toString("base64");
  const refused: [object, number][] = [
    [{ uploads: [{ name: "fake.pdf", data: data("text") }] }, 400],
    [{ uploads: [{ name: "paper.pdf", data: "no base64!" }] }, 400],
    [{ uploads: [{ name: "large.pdf", data: data(PDF.padEnd(9_000_001)) }] }, 400],
  ];
  for (const [more, status] of refused)
    expect((await server.post("/api/research", { query: QUERY, ...more })).status).toBe(status);
  const other = await scene.tokenOf("guest");
  for (const input of [{ mcp_servers: ["crm"] }, { file_search_stores: ["fileSearchStores/handbook"] }])
    expect((await server.post("/api/research", { query: QUERY, ...input }, other)).body).toMatchObject({
      error: { code: "PERMISSION_DENIED" },
    });
  expect(scene.posts()).toBe(0);
  const cost = async (more: object): Promise<number> =>
    (await server.post("/api/estimate", { query: QUERY, ...more })).body.estimated_cost.likely_usd;
  // An estimate has two digits: whole dollars here.
  expect(await cost({ attachments: [{ name: "long.txt", bytes: 4_000_000 }] })).toBeCloseTo((await cost({})) + 10, 0);
  // The name of an upload is only a name.
  const uploads = [
    { name: "../../paper.pdf", data: data(PDF) },
    { name: "units.csv", data: data(CSV) },
  ];
  const { body } = await server.post("/api/research", { query: QUERY, uploads });
  expect(lastStart(scene)?.attachments).toEqual(ATTACHED);
  expect((await server.get(`/api/runs/${body.task_id}`)).body.material).toEqual([
    expect.stringContaining("paper.pdf (pdf, "),
    expect.stringContaining("units.csv (csv, "),
  ]);
});

test("a secret of an MCP server that Google repeats is neither in the stored response nor in the log (V3, T9)", async (context) => {
  const secrets = [SECRET, "literal-session-7733", "key-in-url-5522"];
  const thought = `Calling the server with ${secrets.join(" and ")}.`;
  const scene = await openResearch(context, { course: [{ thought, queries: [QUERY] }], poll_shows: "all" });
  const { env } = withMaterial(scene);
  const crm = {
    url: `https://crm.example.com/mcp?key=${secrets[2]}`,
    headers: { ...SERVERS.crm.headers, "X-Session": secrets[1] },
  };
  const GEMINI_SEARCH_MCP_SERVERS = JSON.stringify({ crm });
  const server = await scene.server({ env: { ...env, GEMINI_SEARCH_MCP_SERVERS, DEBUG: "true" } });
  const { structured } = await server.call(START, { query: QUERY, mcp_servers: ["crm"] });
  await untilStatus(server, structured["task_id"], "completed");
  const [row] = scene.sql<{ raw: Uint8Array }>("select raw from research_results");
  const stored = inflateRawSync(row?.raw ?? "").toString();
  expect(stored).toContain("Calling the server with [CRM_TOKEN] and [crm X-Session] and [crm url 1].");
  for (const secret of secrets) expect(stored + server.stderr()).not.toContain(secret);
});

test("a user whose uploads hardly move keeps nobody else from uploading, and is refused (T16)", async (context) => {
  const scene = await openPageServer(context, SLOW);
  const server = await scene.serve();
  const ann = await scene.tokenOf("ann");
  const headers = { authorization: `Bearer ${ann}`, "content-type": "application/json" };
  const stalled = request(`${server.url}/api/research`, {
    method: "POST",
    headers: { ...headers, "content-length": 1e6 },
  });
  const refused = once(stalled, "response") as Promise<[IncomingMessage]>;
  stalled.write('{"query":"');
  const start = { query: QUERY, uploads: [{ name: "paper.pdf", data: Buffer.from(PDF).toString("base64") }] };
  await expect
    .poll(() => server.post("/api/research", start, ann))
    .toMatchObject({ status: 429, body: { error: { message: expect.stringContaining("Nothing was started") } } });
  expect((await server.post("/api/research", start)).status).toBe(200);
  const [{ statusCode }] = await refused;
  expect(statusCode).toBe(408);
  expect((await server.post("/api/research", start, ann)).status).toBe(200);
});

test("in a terminal --file, --url, --store and --mcp add material from anywhere (V3)", async (context) => {
  const scene = await openResearch(context);
  const { at, env, folder } = withMaterial(scene);
  const typed = { env: { ...env, GEMINI_SEARCH_FILE_ROOTS: "" }, cwd: folder };
  const refused = await scene.command(["research", QUERY, "--file", at("fake.pdf")], typed);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("fake.pdf is not a PDF") });
  expect(scene.posts()).toBe(0);
  const paper = ["research", QUERY, "--file", at("paper.pdf")];
  const unconfirmed = await scene.command(paper, { ...typed, env: { ...typed.env, RESEARCH_CONFIRM_ABOVE_USD: "0" } });
  expect(unconfirmed).toMatchObject({ code: 1, stderr: expect.stringContaining("It sends a file to Google.") });
  expect(scene.posts()).toBe(0);
  const material = ["--file", at("paper.pdf"), "--file", "units.csv", "--url", "https://example.com/report?year=2026"];
  const more = ["--store", "fileSearchStores/handbook", "--mcp", "crm"];
  const { code, stdout } = await scene.command(["research", QUERY, ...material, ...more, "--no-wait"], typed);
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Sent with the question: paper.pdf"),
  });
  expect(lastStart(scene)).toMatchObject({ attachments: ATTACHED, tools: TOOLS });
});

test("a plan has the material and the wishes, and its research has the tools again but not the files (V2, V3, V6)", async (context) => {
  const scene = await openResearch(context);
  const { at, env } = withMaterial(scene);
  const server = await scene.server({ env });
  const material = {
    files: [at("units.csv")],
    file_search_stores: ["fileSearchStores/handbook"],
    mcp_servers: ["crm"],
  };
  const { structured } = await server.call(START, { query: QUERY, plan: true, language: "de", ...material });
  const task_id: string = structured["task_id"];
  expect(lastStart(scene)).toMatchObject({ attachments: [ATTACHED[1]], tools: TOOLS });
  expect(JSON.stringify(lastStart(scene))).toMatch(/German|Deutsch|\bde\b/);
  await untilStatus(server, task_id, "awaiting_approval");
  await server.call("resume_research", { task_id, approve: true });
  expect(lastStart(scene)).toMatchObject({ attachments: [], tools: TOOLS });
  await untilStatus(server, task_id, "completed");
  const { structured: results } = await server.call("get_research_results", { task_id });
  expect(results["material"]).toMatchObject({ files: [SENT.files[1]], mcp_servers: ["crm"] });
  expect(results["metadata"].wishes).toMatchObject({ asked: { language: "de" } });
});
