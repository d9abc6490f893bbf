import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { stopAllChildren } from "../platform/child.ts";
import { createLog } from "../platform/log.ts";
import {
  installStandin,
  readStandinLedger,
  type StandinRecord,
  type StandinScenario,
} from "../simulator/standin-cli.ts";
import type { AskRequest } from "./ask.ts";
import { createCliBackend, type CliBackendOptions } from "./cli.ts";

vi.setConfig({ testTimeout: 20_000 });

let folder: string;
let ledgerFile: string;
let logged: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cli-backend-"));
  ledgerFile = join(folder, "ledger.jsonl");
  logged = [];
  installStandin(join(folder, "bin"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function backend(scenario: StandinScenario, more: Partial<CliBackendOptions> = {}) {
  const { environment, ...rest } = more;
  return createCliBackend({
    environment: {
      PATH: join(folder, "bin"),
      GEMINI_STANDIN_SCENARIO: JSON.stringify(scenario),
      GEMINI_STANDIN_LEDGER: ledgerFile,
      ...environment,
    },
    home: join(folder, "home"),
    systemPromptFile: "/prompts/cli-system-prompt.md",
    timeoutMs: 15_000,
    progressLogIntervalMs: 60_000,
    apiKey: "canary-key-1234567890",
    vertex: false,
    firecrawl: {},
    userHome: join(folder, "user"),
    log: createLog({ from: "DEBUG", format: "text", redact: (text) => text, write: (line) => void logged.push(line) }),
    redact: (text) => text.replaceAll("canary-key-1234567890", "[GEMINI_API_KEY]"),
    slots: { take: () => Promise.resolve(() => {}) },
    graceMs: 300,
    ...rest,
  });
}

const question = (more: Partial<AskRequest> = {}): AskRequest => ({
  prompt: "What is new?",
  purpose: "research",
  model: undefined,
  signal: new AbortController().signal,
  onActivity: () => {},
  ...more,
});

const ledger = (): StandinRecord[] => readStandinLedger(ledgerFile);

function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

/** After every call: no process, no room. */
async function expectNothingLeft(): Promise<void> {
  const pids = ledger().flatMap(({ pid, grandchild }) => (grandchild === null ? [pid] : [pid, grandchild]));
  await expect.poll(() => pids.filter(isAlive), { timeout: 2_000, interval: 10 }).toEqual([]);
  expect(readdirSync(join(folder, "home", "calls"))).toEqual([]);
}

const SOURCES = [
  { title: "example.org", url: "https://vertexaisearch.cloud.google.com/grounding-api-redirect/AAA" },
  { title: "B", url: "https://b.example/" },
];

test("a good answer: text, real sources, queries, model, figures, activities", async () => {
  const activities: string[] = [];
  const scenario = {
    text: '{"success":true,"report":"Kyoto é 京都"}',
    model: "gemini-3.8-flash",
    searches: [{ query: "kyoto", sources: SOURCES }],
  };
  const answer = await backend(scenario).ask(question({ onActivity: (activity) => activities.push(activity) }));
  expect(answer).toEqual({
    backend: "cli",
    text: scenario.text,
    cut: false,
    model: "gemini-3.8-flash",
    sources: SOURCES,
    queries: ["kyoto"],
    // 130 in all: ten tokens of thoughts cost as output.
    usage: { input: 100, output: 30, cached: 5, searches: 1 },
    notices: [],
  });
  expect(activities).toEqual(["Searching: kyoto"]);
  await expectNothingLeft();
});

test("C2, C3, C4: what the child is given", async () => {
  const environment = {
    GEMINI_MODEL: "other",
    GITHUB_TOKEN: "x",
    HTTPS_PROXY: "http://proxy:1",
    GEMINI_SEARCH_DEPTH: "0",
  };
  await backend({}, { environment }).ask(
    question({ prompt: "Mail bob@example.com & $(touch /tmp/x) `id`\n", model: "gemini-3.8-flash" }),
  );
  const [record] = ledger();
  expect(record).toMatchObject({
    argv: ["--output-format", "stream-json", "--model", "gemini-3.8-flash"],
    stdin: { text: "Mail bob\\@example.com & $(touch /tmp/x) `id`\n" },
    cwd_listing: [],
    home_listing: [".env", "settings.json"],
    settings: { security: { auth: { selectedType: "gemini-api-key" } } },
    env: {
      GEMINI_SEARCH_DEPTH: "1",
      NO_BROWSER: "true",
      GEMINI_CLI_NO_RELAUNCH: "true",
      HTTPS_PROXY: "http://proxy:1",
    },
  });
  expect(record?.env_names).not.toContain("GEMINI_MODEL");
  expect(record?.env_names).not.toContain("GITHUB_TOKEN");
  expect(record?.env_names).toContain("GEMINI_API_KEY");
  expect(record?.cwd.startsWith(join(folder, "home"))).toBe(true);
});

test("T1, T2: whatever is asked, the command line is the same and stdin is the question", async () => {
  const cli = backend({});
  const hostile = [
    "--yolo",
    "; rm -rf ~",
    "$(id)",
    "`id`",
    "%PATH% ^& |",
    "a\0b",
    "\u2028\r\n-p x",
    "--model=evil",
    "\\",
    "'\"",
  ];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...hostile), fc.string({ unit: "binary", maxLength: 20 }), async (start, rest) => {
      fc.pre(!rest.includes("@"));
      await cli.ask(question({ prompt: start + rest }));
      const record = ledger().at(-1);
      expect(record?.argv).toEqual(["--output-format", "stream-json"]);
      // What is no text, such as half a surrogate pair, becomes a replacement character on its way.
      expect(record?.stdin?.text).toBe(Buffer.from(start + rest).toString("utf8"));
    }),
    { numRuns: 10 },
  );
  await expectNothingLeft();
});

test("C5: a call that hangs is stopped in time, and what it said is kept", async () => {
  const call = backend({ text: "half", noResult: true, hangAfterAnswer: true }, { timeoutMs: 700 }).ask(question());
  await expect(call).rejects.toMatchObject({
    code: "EXECUTION_ERROR",
    reason: "timeout",
    retryable: false,
    details: { partial_text: "half" },
  });
  await expectNothingLeft();
});

test("C5: a call that ignores SIGTERM is killed", async () => {
  const call = backend({ hang: true, ignoreSigterm: true }, { timeoutMs: 700 }).ask(question());
  await expect(call).rejects.toMatchObject({ reason: "timeout" });
  await expectNothingLeft();
});

test("C5: what it forks is gone, and does not hold the answer up", async () => {
  await expect(backend({ forkMs: 60_000 }).ask(question())).resolves.toMatchObject({ cut: false });
  expect(ledger()[0]?.grandchild).toBeGreaterThan(0);
  await expectNothingLeft();
});

test("a CLI that has answered and does not leave does not cost the whole timeout", async () => {
  const cli = backend({ hangAfterAnswer: true, ignoreSigterm: true }, { timeoutMs: 3_600_000 });
  await expect(cli.ask(question())).resolves.toMatchObject({ cut: false });
  await expectNothingLeft();
});

test("C6: 100 MB of output end the call at 32 MB, in bounded memory", async () => {
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5);
  const call = backend({ printBytes: 100_000_000 }).ask(question());
  await expect(call).rejects.toMatchObject({ code: "EXECUTION_ERROR", reason: "output_limit", retryable: false });
  clearInterval(watch);
  expect(peak - before).toBeLessThan(300_000_000);
  await expectNothingLeft();
});

test("C6: a character that arrives in pieces is one character", async () => {
  const text = '{"report":"größe 京都 🙂"}';
  await expect(backend({ text, splitCharacters: true }).ask(question())).resolves.toMatchObject({ text });
});

test.each([
  ["exit 0 with nothing", { silent: true }, { reason: "no_answer", retryable: true }],
  ["stdout closed early", { closeStdout: true }, { reason: "no_answer", retryable: true }],
  ["exit 41", { silent: true, exitCode: 41 }, { reason: "auth", retryable: false }],
  ["exit 173", { silent: true, exitCode: 173 }, { reason: "rate_limit", retryable: true }],
  [
    "remarks and then exit 247",
    { text: "I will search.", noResult: true, exitCode: 247 },
    { reason: "overloaded", details: { partial_text: "I will search." } },
  ],
  [
    "remarks and then killed from outside",
    { text: "I will search.", noResult: true, exitCode: 0 },
    { reason: "no_answer" },
  ],
] satisfies [string, StandinScenario, object][])("T7, C8: %s is no answer", async (_, scenario, expected) => {
  await expect(backend(scenario).ask(question())).rejects.toMatchObject({ code: "EXECUTION_ERROR", ...expected });
  await expectNothingLeft();
});

test.each([
  ["exit 1 after an answer", { exitCode: 1 }, false],
  ["exit 1 after an answer without its last line", { exitCode: 1, noResult: true, text: '{"success":true}' }, false],
  ["never reading stdin", { ignoreStdin: true }, false],
  ["plain text", { format: "text", text: "just words" }, false],
  ["one JSON object", { format: "json" }, false],
  ["an answer that the pipe swallowed", { onlyInSession: true, text: '{"success":true}' }, false],
] satisfies [string, StandinScenario, boolean][])("C7: %s is an answer", async (_, scenario, cut) => {
  await expect(backend(scenario).ask(question())).resolves.toMatchObject({
    text: (scenario as StandinScenario).text ?? expect.stringContaining("Stand-in"),
    cut,
  });
  await expectNothingLeft();
});

test("L1: an abort in the middle is CANCELLED, and nothing is left", async () => {
  const controller = new AbortController();
  const call = backend({ hang: true, ignoreSigterm: true, forkMs: 60_000 }).ask(
    question({ signal: controller.signal }),
  );
  await expect.poll(() => ledger().length, { timeout: 5_000 }).toBe(1);
  controller.abort();
  await expect(call).rejects.toMatchObject({ code: "CANCELLED", retryable: false });
  await expectNothingLeft();
  await expect(backend({}).ask(question({ signal: controller.signal }))).rejects.toMatchObject({ code: "CANCELLED" });
  expect(ledger()).toHaveLength(1);
});

test("A8: a shutdown has its own grace", async () => {
  const call = backend({ hang: true, ignoreSigterm: true }, { graceMs: 30_000 }).ask(question());
  const outcome = expect(call).rejects.toMatchObject({ code: "INTERRUPTED", reason: "stopped" });
  await expect.poll(() => ledger().length, { timeout: 5_000 }).toBe(1);
  await stopAllChildren(100);
  await outcome;
  await expectNothingLeft();
});

test("T4: what the CLI leaves behind goes with its room, and the next call finds an empty directory", async () => {
  const cli = backend({ litter: ["gemini-client-error-1.json"] });
  await cli.ask(question());
  await cli.ask(question());
  expect(ledger().map(({ cwd_listing }) => cwd_listing)).toEqual([[], []]);
  await expectNothingLeft();
});

test("C4: an .env above our home is not the child's", async () => {
  await backend({}).ask(question());
  // The room has one of its own, which the CLI takes first.
  expect(ledger()[0]?.home_listing).toContain(".env");
});

test("C1: found once and remembered, looked for again only after it has vanished", async () => {
  const cli = backend({}, { environment: { PATH: `${join(folder, "first")}:relative:${join(folder, "bin")}` } });
  expect(cli.isInstalled()).toBe(true);
  installStandin(join(folder, "first"));
  await cli.ask(question());
  renameSync(join(folder, "bin"), join(folder, "elsewhere"));
  expect(cli.isInstalled()).toBe(true);
  rmSync(join(folder, "first"), { recursive: true });
  expect(cli.isInstalled()).toBe(false);
  await expect(cli.ask(question())).rejects.toMatchObject({
    code: "CLI_NOT_FOUND",
    message: expect.stringContaining("npm install -g @google/gemini-cli"),
  });
});

test("C1: a file that may not be executed, or a folder, is not the CLI", () => {
  chmodSync(join(folder, "bin", "gemini"), 0o644);
  mkdirSync(join(folder, "dir", "gemini"), { recursive: true });
  expect(backend({}, { environment: { PATH: `${join(folder, "dir")}:${join(folder, "bin")}` } }).isInstalled()).toBe(
    false,
  );
});

test("C9: a call that has to wait says so, gives its slot back, and can be cancelled while waiting", async () => {
  const activities: string[] = [];
  let released = 0;
  const slots: CliBackendOptions["slots"] = {
    take: async ({ onWait }) => {
      onWait();
      return () => void (released += 1);
    },
  };
  await backend({}, { slots }).ask(question({ onActivity: (activity) => activities.push(activity) }));
  await expect(backend({ silent: true }, { slots }).ask(question())).rejects.toThrow();
  expect(activities).toEqual(["Waiting for a free Gemini CLI slot"]);
  expect(logged.join("")).toContain("[INFO] All Gemini CLI slots of this machine are taken");
  expect(released).toBe(2);

  const controller = new AbortController();
  const never: CliBackendOptions["slots"] = {
    take: ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("gone")))),
  };
  const call = backend({}, { slots: never }).ask(question({ signal: controller.signal }));
  controller.abort();
  await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
});

test("B4: the log says how long a call has lasted", async () => {
  await backend({ sleepMs: 500 }, { progressLogIntervalMs: 100 }).ask(question());
  expect(
    logged.filter((line) => /^\[INFO\] Gemini CLI call has been running for \d+ s\n$/.test(line)).length,
  ).toBeGreaterThan(2);
});

test("T9: the key is in no file, no log line and no error", async () => {
  const cli = backend({ silent: true, exitCode: 1, stderr: "Authorization: canary-key-1234567890" });
  const error = await cli.ask(question()).catch((reason: unknown) => reason);
  const files = readdirSync(join(folder, "home"), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const everything = [
    String(error),
    JSON.stringify(error),
    ...logged,
    ...files.map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8")),
  ];
  expect(everything.join("\n")).not.toContain("canary-key");
  expect(logged.join("")).toContain(
    "[DEBUG] The end of what the Gemini CLI wrote on stderr:\n  Authorization: [GEMINI_API_KEY]",
  );
});

test("C4: without a key the user's own sign-in is linked, and a renewed token reaches their file", async () => {
  const own = join(folder, "user", ".gemini");
  mkdirSync(own, { recursive: true });
  writeFileSync(
    join(own, "settings.json"),
    '{ /* mine */ "security": { "auth": { "selectedType": "oauth-personal" } }, "mcpServers": { "mine": {} } }',
  );
  writeFileSync(join(own, "oauth_creds.json"), "{}");
  writeFileSync(join(own, ".env"), "GEMINI_MODEL=mine\nGOOGLE_CLOUD_PROJECT=project\n");
  await backend({}, { apiKey: undefined }).ask(question());
  const [record] = ledger();
  expect(record?.home_listing).toEqual([".env", "oauth_creds.json", "settings.json"]);
  expect(record?.settings).toMatchObject({ security: { auth: { selectedType: "oauth-personal" } } });
  expect(record?.settings).not.toHaveProperty("mcpServers");
  expect(record?.env_names).toContain("GOOGLE_CLOUD_PROJECT");
  expect(record?.env_names).not.toContain("GEMINI_MODEL");
  expect(readdirSync(own).toSorted()).toEqual([".env", "oauth_creds.json", "settings.json"]);
});

test("B5: a home that cannot be made is an error of ours, not a stack trace", async () => {
  writeFileSync(join(folder, "home"), "a file is in the way");
  await expect(backend({}).ask(question())).rejects.toMatchObject({ code: "PERMISSION_DENIED", reason: "config" });
});

test("rooms of dead processes are swept, those of living ones stay", async () => {
  const calls = join(folder, "home", "calls");
  const room = (name: string, owner: object): void => {
    mkdirSync(join(calls, name), { recursive: true });
    writeFileSync(join(calls, name, "owner.json"), JSON.stringify(owner));
  };
  await backend({}).ask(question());
  const host = (await import("node:os")).hostname();
  room("dead", { host, pid: 2 ** 22 + 1, startMark: null });
  room("reused", { host, pid: process.pid, startMark: "another:1" });
  room("elsewhere", { host: "another-machine", pid: 1, startMark: null });
  mkdirSync(join(calls, "just-made"));
  await backend({}).ask(question());
  expect(readdirSync(calls).toSorted()).toEqual(["elsewhere", "just-made"]);
});

test("T11: under any umask nobody else can read the home", async () => {
  const before = process.umask(0);
  try {
    await backend({}).ask(question());
  } finally {
    process.umask(before);
  }
  // Node makes the folders inside the compile cache, which nobody else can enter.
  const names = readdirSync(join(folder, "home"), { recursive: true }).map(String);
  const ours = names.filter((name) => !/^compile-cache\/.*\//.test(name));
  expect(ours).toContain(".gemini/settings.json");
  for (const name of ours) expect(`${name} ${statSync(join(folder, "home", name)).mode & 0o077}`).toBe(`${name} 0`);
});

test("a symbolic link to the CLI, as npm makes it, is the CLI", async () => {
  mkdirSync(join(folder, "linked"));
  symlinkSync(join(folder, "bin", "gemini"), join(folder, "linked", "gemini"));
  await expect(backend({}, { environment: { PATH: join(folder, "linked") } }).ask(question())).resolves.toMatchObject({
    backend: "cli",
  });
});
