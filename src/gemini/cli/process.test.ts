import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { question, useStandin } from "../../../test/kit/simulator/cli-backend.ts";
import { PaidFailure } from "../search-backend.ts";
import { stopAllChildren } from "../../platform/child.ts";
import type { StandinScenario } from "../../../simulator/gemini-cli/standin-cli.ts";
import { PROCESS_STARTED_MS } from "../../../test/kit/clock/time-limits.ts";

const scene = useStandin();

test("a call that hangs is stopped at the timeout, and its output is kept (C5)", async () => {
  const call = scene
    .backend({ text: "half", noResult: true, hangAfterAnswer: true }, { timeoutMs: PROCESS_STARTED_MS })
    .ask(question());
  await expect(call).rejects.toMatchObject({
    code: "EXECUTION_ERROR",
    reason: "timeout",
    retryable: false,
    details: { partial_text: "half" },
  });
  await scene.expectNothingLeft();
});

test("a call that ignores SIGTERM is killed (C5)", async () => {
  const call = scene.backend({ hang: true, ignoreSigterm: true }, { timeoutMs: PROCESS_STARTED_MS }).ask(question());
  await expect(call).rejects.toMatchObject({ reason: "timeout" });
  await scene.expectNothingLeft();
});

test("forked processes are stopped, and do not delay the answer (C5)", async () => {
  await expect(scene.backend({ forkMs: 60_000 }).ask(question())).resolves.toMatchObject({ cut: false });
  expect(scene.ledger()[0]?.grandchild).toBeGreaterThan(0);
  await scene.expectNothingLeft();
});

test("a daemon outside the process group is stopped too (C5)", async () => {
  await expect(scene.backend({ forkMs: 60_000, forkDaemon: true }).ask(question())).resolves.toMatchObject({
    cut: false,
  });
  expect(scene.ledger()[0]?.grandchild).toBeGreaterThan(0);
  await scene.expectNothingLeft();
});

test("a CLI that has answered and does not exit is not waited for until the timeout", async () => {
  const cli = scene.backend({ hangAfterAnswer: true, ignoreSigterm: true }, { timeoutMs: 3_600_000 });
  await expect(cli.ask(question())).resolves.toMatchObject({ cut: false });
  await scene.expectNothingLeft();
});

test("100 MB of output end the call at 32 MB, in bounded memory (C6)", async () => {
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5);
  const call = scene.backend({ printBytes: 100_000_000 }).ask(question());
  await expect(call).rejects.toMatchObject({ code: "EXECUTION_ERROR", reason: "output_limit", retryable: false });
  clearInterval(watch);
  expect(peak - before).toBeLessThan(300_000_000);
  await scene.expectNothingLeft();
});

test("a character that arrives in parts is one character (C6)", async () => {
  const text = '{"report":"größe 京都 🙂"}';
  await expect(scene.backend({ text, splitCharacters: true }).ask(question())).resolves.toMatchObject({ text });
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
    "remarks and then killed by another process",
    { text: "I will search.", noResult: true, exitCode: 0 },
    { reason: "no_answer" },
  ],
] satisfies [string, StandinScenario, object][])("%s is no answer (T7, C8)", async (_, scenario, expected) => {
  await expect(scene.backend(scenario).ask(question())).rejects.toMatchObject({ code: "EXECUTION_ERROR", ...expected });
  await scene.expectNothingLeft();
});

test.each([
  ["exit 1 after an answer", { exitCode: 1 }, /^```json\n[^]*Stand-in[^]*```$/],
  ["exit 1 after an answer in words", { exitCode: 1, text: "just words" }, /^just words$/],
  ["exit 1 after an answer without its last line", { exitCode: 1, noResult: true, text: "{}" }, /^\{\}$/],
  ["a second try after half a stream", { falseStart: '{"success":tr', text: "{}" }, /^\{\}$/],
  ["never reading stdin", { ignoreStdin: true }, /Stand-in/],
  ["an answer that the pipe swallowed", { onlyInSession: true, text: "{}" }, /^\{\}$/],
] satisfies [string, StandinScenario, RegExp][])("%s is an answer (C7)", async (_, scenario, text) => {
  const answer = await scene.backend(scenario).ask(question());
  expect(answer).toMatchObject({ text: expect.stringMatching(text), cut: false });
  await scene.expectNothingLeft();
});

const MANY = { input_tokens: 400_000, output_tokens: 2_000, total_tokens: 402_500, cached: 0 };
const USED = { input: 400_000, output: 2_500, cached: 0 };
const READ = { exitCode: 148, noResult: true, searches: [], fetches: ["https://b.example/"] };
const SEARCHED = [{ query: "kyoto", sources: [{ title: "B", url: "https://b.example/" }] }];

test.each([
  ["its limit of turns", { exitCode: 53, stats: MANY }, USED],
  ["a tool that failed", { exitCode: 54, stats: MANY }, USED],
  ["a refused permission", { exitCode: 1, stats: MANY, stderr: "PERMISSION_DENIED" }, USED],
  ["a refused permission, without statistics", { exitCode: 41, noResult: true }, { isIncomplete: true, searches: 1 }],
  ["a page that was read, without statistics", READ, { isIncomplete: true, searches: 0 }],
] satisfies [string, StandinScenario, object][])(
  "a call that ended with %s after a model has answered counts what it used (P6, C8)",
  async (_, scenario, usage) => {
    const asked = scene.backend({ text: "", searches: SEARCHED, ...scenario }).ask(question());
    await expect(asked).rejects.toMatchObject({ answer: { usage, model: "standin-model" } });
    await expect(asked).rejects.toBeInstanceOf(PaidFailure);
  },
);

test("a call that failed before a model was called has used nothing (P6, C8)", async () => {
  const idle = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
  for (const scenario of [{ silent: true }, { text: "", stats: idle }]) {
    const asked = scene.backend({ ...scenario, exitCode: 41 }).ask(question());
    await expect(asked).rejects.toMatchObject({ reason: "auth" });
    await expect(asked).rejects.not.toBeInstanceOf(PaidFailure);
  }
});

test("an aborted call is CANCELLED, and leaves nothing (L1)", async () => {
  const controller = new AbortController();
  const call = scene
    .backend({ hang: true, ignoreSigterm: true, forkMs: 60_000 })
    .ask(question({ signal: controller.signal }));
  await expect.poll(() => scene.ledger().length).toBe(1);
  controller.abort();
  await expect(call).rejects.toMatchObject({ code: "CANCELLED", retryable: false });
  await scene.expectNothingLeft();
  await expect(scene.backend({}).ask(question({ signal: controller.signal }))).rejects.toMatchObject({
    code: "CANCELLED",
  });
  expect(scene.ledger()).toHaveLength(1);
});

test("a shutdown has a grace period of its own (A8)", async () => {
  const call = scene.backend({ hang: true, ignoreSigterm: true }, { graceMs: 30_000 }).ask(question());
  await expect.poll(() => scene.ledger().length).toBe(1);
  const [outcome] = await Promise.allSettled([call, stopAllChildren(100)]);
  expect(outcome).toMatchObject({ status: "rejected", reason: { code: "INTERRUPTED", reason: "stopped" } });
  await scene.expectNothingLeft();
});

test("files of the CLI are deleted with its working directory, and the next call has an empty one (T4)", async () => {
  const cli = scene.backend({ litter: ["gemini-client-error-1.json"] });
  await cli.ask(question());
  await cli.ask(question());
  expect(scene.ledger().map(({ cwd_listing }) => cwd_listing)).toEqual([[], []]);
  await scene.expectNothingLeft();
});

test("working directories of dead servers are deleted, and their processes stopped; those of live ones stay (T6)", async () => {
  const calls = join(scene.folder, "home", "calls");
  const createDirectory = (name: string, owner: object): void => {
    mkdirSync(join(calls, name), { recursive: true });
    writeFileSync(join(calls, name, "owner.json"), JSON.stringify(owner));
  };
  await scene.backend({}).ask(question());
  const host = hostname();
  createDirectory("dead", { host, pid: 2 ** 22 + 1, startMark: null });
  createDirectory("reused", { host, pid: process.pid, startMark: "another:1" });
  createDirectory("elsewhere", { host: "another-machine", pid: 1, startMark: null });
  mkdirSync(join(calls, "just-made"));
  const orphan = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {
    env: { GEMINI_CLI_HOME: join(calls, "dead") },
    stdio: "ignore",
  });
  const gone = once(orphan, "exit");
  await scene.backend({}).ask(question());
  expect(readdirSync(calls).toSorted()).toEqual(["elsewhere", "just-made"]);
  expect(await gone).toEqual([null, "SIGKILL"]);
});

test("under any umask no other user can read the home (T11)", async () => {
  const before = process.umask(0);
  try {
    await scene.backend({}).ask(question());
  } finally {
    process.umask(before);
  }
  // Node creates the folders inside the compile cache, which other users cannot enter.
  const names = readdirSync(join(scene.folder, "home"), { recursive: true }).map(String);
  const ours = names.filter((name) => !/^compile-cache\/.*\//.test(name));
  expect(ours).toContain(".gemini/settings.json");
  for (const name of ours)
    expect(`${name} ${statSync(join(scene.folder, "home", name)).mode & 0o077}`).toBe(`${name} 0`);
});
