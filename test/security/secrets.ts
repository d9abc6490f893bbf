/** Uses a unique key and token through every known failure, and searches all output and files for them (T9). */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FAULTS } from "../../simulator/fault-names.ts";
import { openCliScene } from "../kit/simulator/cli-scene.ts";
import { startHttpServer } from "../kit/server/http-server.ts";
import { type Interactions, openResearch, type ResearchScene } from "../kit/server/research.ts";
import { BIN } from "../kit/server/server.ts";
import { plantIn } from "./planting-proxy.ts";
import { openVerdict, type Stage, type Verdict } from "./trial.ts";
import { UNRESOLVABLE_HOST } from "../kit/services/unresolvable-host.ts";

/** Neither has the form of a Google key, which a pattern would find. */
const KEY = "canary-key/9f8e+7d6c=5b4a";
const TOKEN = "canary-token-0a1b2c3d4e5f60718293";
const SPELLINGS = [KEY, TOKEN].flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  btoa(secret).replace(/=+$/, ""),
]);
/** Debug settings that users enable. */
const LOUD = { DEBUG: "true", GOOGLE_GENAI_DEBUG: "1", NODE_DEBUG: "http,https,net,fetch,undici", LOG_FORMAT: "text" };
const QUESTION = "A question that fails";

type Failures = { check(what: string, holds: boolean): void; fail(what: string): void };

export async function trySecrets(stage: Stage): Promise<Verdict & { failures: number }> {
  const verdict = openVerdict();
  let failures = 0;
  const leaks = (text: string): boolean => SPELLINGS.some((spelling) => text.includes(spelling));
  const judge: Failures & { leaks: typeof leaks } = { check: verdict.check, fail: () => (failures += 1), leaks };
  await Promise.all([tryApi(stage, judge), tryCli(stage, judge), tryHttp(stage, judge)]);
  return { ...verdict, failures };
}

type Judge = Failures & { leaks: (text: string) => boolean };

const search = (fault: (typeof FAULTS)[number]) => ({ name: fault, tasks: { search: [{ fault }] } });
const RESEARCH: Interactions[] = [
  ...(["accept-then-reset", "accept-then-500", "accept-then-malformed", "accept-then-html"] as const).map((fault) => ({
    create: [{ fault }],
  })),
  ...(["http-400", "http-401", "http-403", "http-500", "reset-before"] as const).map((fault) => ({
    create: [{ fault }],
  })),
  ...(["http-403", "http-404", "http-500", "malformed-json"] as const).map((fault) => ({ get: [{ fault }] })),
  { status: "failed", speed: 5_000 },
  { status: "incomplete", speed: 5_000 },
];

async function tryApi(stage: Stage, { check, fail, leaks }: Judge): Promise<void> {
  const scene = await openResearch(stage, {});
  const upstream = await plantIn(stage, scene.gemini.url, (text, name) =>
    name === "message" ? `${text} API key ${KEY} (https://x/?key=${encodeURIComponent(KEY)}) is not valid.` : text,
  );
  const timing = { JSON_MAX_RETRIES: "1", GEMINI_SEARCH_TIMEOUT: "1500" };
  const env = { ...scene.env, ...LOUD, ...timing, GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: upstream };
  const server = openRaw(env);
  stage.onTestFinished(() => void server.child.kill("SIGKILL"));
  for (const fault of FAULTS) {
    scene.gemini.setScenario(search(fault));
    await server.call("search", { query: `${QUESTION} with ${fault}` });
    fail(`search ${fault}`);
  }
  scene.gemini.setScenario({ name: "bad-key", refuses: "key-invalid" });
  await server.call("search", { query: `${QUESTION} for its key` });
  fail("refused key");
  for (const [at, interactions] of RESEARCH.entries()) {
    scene.play(interactions);
    const text = await server.call("start_deep_research", { query: `${QUESTION} as research ${at}`, force_new: true });
    const [, task_id = ""] = /"task_id":"([0-9a-f-]{36})"/.exec(text) ?? [];
    await server.call("check_research_status", { task_id });
    // Cancelled once only, because cancelling waits for up to five seconds.
    if (at === RESEARCH.length - 3) await server.call("cancel_research", { task_id });
    fail(`research ${at}`);
  }
  await server.call("save_research_to_markdown", { task_id: "x", output_dir: "/proc/nowhere" });
  const failing = [
    { GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:9" },
    { GOOGLE_GEMINI_BASE_URL: `http://user:${encodeURIComponent(KEY)}@${UNRESOLVABLE_HOST}` },
    { GOOGLE_GEMINI_BASE_URL: "not an address" },
    { DEEP_RESEARCH_DB: "/proc/nowhere/at-all.db" },
  ];
  for (const more of failing) {
    // Without a valid address, doctor would ask Google itself.
    const doctor = more.GOOGLE_GEMINI_BASE_URL === "not an address" ? ["doctor", "--offline"] : ["doctor"];
    for (const args of [["search", QUESTION, "--json"], doctor]) {
      const { stdout, stderr } = await scene.command(args, { env: { ...env, ...more } });
      check(`${args[0]} ${JSON.stringify(more)}: ${stdout}${stderr}`, !leaks(stdout + stderr));
      fail(`command ${JSON.stringify(more)}`);
    }
  }
  // A crash during a call leaves the database and its write-ahead log unfinished.
  scene.gemini.setScenario(search("hang"));
  const last = server.call("search", { query: "A question in a crash" });
  server.child.kill("SIGABRT");
  await last;
  fail("crash");
  check(`stdout: ${around(server.stdout(), leaks)}`, !leaks(server.stdout()));
  check(
    "stdout is messages only",
    server
      .stdout()
      .split("\n")
      .every((line) => line === "" || line.startsWith('{"')),
  );
  check(`stderr: ${around(server.stderr(), leaks)}`, !leaks(server.stderr()));
  checkFiles(scene.configDir, { check, leaks });
}

const CLI_FAILURES = [
  { stderr: `API key ${KEY} not valid`, exitCode: 41, silent: true },
  { stderr: `Error: ?key=${encodeURIComponent(KEY)}`, exitCode: 1, silent: true },
  { silent: true },
  { noResult: true, exitCode: 1 },
  { closeStdout: true },
  { text: "prose only" },
  { exitCode: 137, silent: true },
  { printBytes: 40 * 1_024 * 1_024 },
];

async function tryCli(stage: Stage, { check, fail, leaks }: Judge): Promise<void> {
  const scene = openCliScene(stage);
  const server = openRaw({ ...scene.env, ...LOUD, GEMINI_API_KEY: KEY, MCP_AUTH_TOKEN: TOKEN, JSON_MAX_RETRIES: "1" });
  stage.onTestFinished(() => void server.child.kill("SIGKILL"));
  for (const behaviour of CLI_FAILURES) {
    scene.script({ ...behaviour, sleepMs: 100 });
    const answered = server.call("search", { query: QUESTION });
    const timer = setInterval(() => check("argv while a child works", !commandLines().some(leaks)), 50);
    await answered;
    clearInterval(timer);
    fail(`CLI ${JSON.stringify(behaviour)}`);
  }
  check("argv of children", !leaks(JSON.stringify(scene.children().map(({ argv }) => argv))));
  check("the key of the server is not the child's token", !JSON.stringify(scene.children()).includes(TOKEN));
  check(`stdout: ${around(server.stdout(), leaks)}`, !leaks(server.stdout()));
  check(`stderr: ${around(server.stderr(), leaks)}`, !leaks(server.stderr()));
  server.child.kill("SIGKILL");
  checkFiles(scene.configDir, { check, leaks });
}

async function tryHttp(stage: Stage, { check, fail, leaks }: Judge): Promise<void> {
  const server = await startHttpServer({
    env: {
      ...LOUD,
      MCP_AUTH_TOKEN: TOKEN,
      GEMINI_API_KEY: KEY,
      SEARCH_BACKEND: "api",
      GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:9",
      JSON_MAX_RETRIES: "1",
    },
  });
  stage.onTestFinished(() => server.close());
  const asking = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "search", arguments: { query: QUESTION } },
  });
  const requests: [string, RequestInit][] = [
    [`/mcp?token=${TOKEN}`, { headers: { authorization: "" } }],
    [`/${TOKEN}`, {}],
    ["/mcp", { method: "POST", headers: { ...asking, authorization: `Bearer ${TOKEN}x` }, body }],
    ["/mcp", { method: "POST", headers: { ...asking, authorization: `Basic ${btoa(TOKEN)}` }, body }],
    ["/mcp", { method: "POST", headers: { ...asking, "mcp-session-id": TOKEN }, body }],
    ["/mcp", { method: "POST", headers: asking, body: `{"${TOKEN}` }],
    ["/mcp", { method: "POST", headers: asking, body }],
    ["/mcp", { method: "PUT", body: TOKEN }],
  ];
  for (const [path, init] of requests) {
    const response = await server.request(path, init);
    const text = JSON.stringify([...response.headers]) + (await response.text());
    check(`${init.method ?? "GET"} ${path}: ${text}`, !leaks(text));
    fail(`HTTP ${path}`);
  }
  check(`argv: ${commandLines().find(leaks)}`, !commandLines().some(leaks));
  check(`stdout: ${server.stdout()}`, !leaks(server.stdout()));
  check(`stderr: ${around(server.stderr(), leaks)}`, !leaks(server.stderr()));
  checkFiles(server.configDir, { check, leaks });
}

/** Searches the bytes of all files: database, write-ahead log, orphaned ids, reports and others. */
function checkFiles(folder: string, { check, leaks }: Pick<Judge, "check" | "leaks">): void {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { parentPath, name } of entries) {
    check(`file ${join(parentPath, name)}`, !leaks(readFileSync(join(parentPath, name), "latin1")));
  }
}

const commandLines = (): string[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8");
      } catch {
        return "";
      }
    });

function around(text: string, leaks: (text: string) => boolean): string {
  return text.split("\n").find(leaks)?.slice(0, 300) ?? "";
}

interface RawServer {
  child: ChildProcessWithoutNullStreams;
  stdout: () => string;
  stderr: () => string;
  /** Returns the line of the response, or the output until the server ended. */
  call: (name: string, input: object) => Promise<string>;
}

/** The server with its raw stdout, which a client would parse. */
function openRaw(env: ResearchScene["env"]): RawServer {
  const child = spawn(process.execPath, [BIN], { env });
  let [stdout, stderr, count] = ["", "", 0];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => undefined);
  child.setMaxListeners(0);
  const ask = (method: string, params: object): Promise<string> => {
    const id = (count += 1);
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return new Promise((resolve) => {
      const look = (): void => {
        const line = stdout.split("\n").find((one) => one.endsWith("}") && one.includes(`"id":${id}`));
        if (line === undefined && child.exitCode === null && child.signalCode === null) return;
        child.stdout.off("data", look);
        resolve(line ?? "");
      };
      child.stdout.on("data", look);
      child.once("close", look);
    });
  };
  const clientInfo = { name: "raw", version: "1" };
  const ready = ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    call: async (name, input) => {
      await ready;
      return ask("tools/call", { name, arguments: input });
    },
  };
}
