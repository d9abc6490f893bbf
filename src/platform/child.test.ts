import { tmpdir } from "node:os";
import { expect, test, vi } from "vitest";
import { isAlive } from "../../test/kit/server/processes.ts";
import { runChild, stopAllChildren, type ChildOutcome, type ChildRequest } from "./child.ts";
import { PROCESS_STARTED_MS } from "../../test/kit/clock/time-limits.ts";

// Shorter than the grace periods that must not be waited for.
vi.setConfig({ testTimeout: 18_000 });

interface Run {
  outcome: ChildOutcome;
  output: string;
}

async function run(script: string, more: Partial<ChildRequest> = {}): Promise<Run> {
  let output = "";
  const outcome = await runChild({
    command: process.execPath,
    args: ["-e", script],
    cwd: tmpdir(),
    env: {},
    stdin: "",
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    grace: () => 300,
    onOutput: (text) => (output += text),
    ...more,
  });
  return { outcome, output };
}

/** `kill` returns before the kernel has ended the process. */
async function expectGone(pid: number): Promise<void> {
  await expect.poll(() => isAlive(pid), { interval: 10 }).toBe(false);
}

const FOREVER = "setInterval(() => {}, 1000);";
const IGNORE_SIGNALS = "for (const s of ['SIGTERM','SIGINT','SIGHUP']) process.on(s, () => {});";
/** A grandchild that keeps stdout open after its parent has exited. */
const FORK = `const kid = require('node:child_process').spawn(process.execPath, ['-e', '${IGNORE_SIGNALS.replaceAll("'", '"')} ${FOREVER}'], { stdio: ['ignore', 'inherit', 'ignore'] });`;

test("a program that exits on its own yields output, stderr and exit code", async () => {
  const { outcome, output } = await run("console.log('out'); console.error('err'); process.exitCode = 3");
  expect(outcome).toEqual({ ended: "exit", exitCode: 3, signal: undefined, stderr: "err\n" });
  expect(output).toBe("out\n");
});

test("stdin is delivered whole and closed, 5 MB of it (C2)", async () => {
  const stdin = "größe 京都 ".repeat(350_000);
  const { output } = await run(
    "let n = 0; process.stdin.on('data', (d) => (n += d.length)).on('end', () => console.log(n))",
    { stdin },
  );
  expect(output).toBe(`${Buffer.byteLength(stdin)}\n`);
});

test("a program that never reads stdin is no error (C2)", async () => {
  const { outcome } = await run("process.stdin.destroy(); setTimeout(() => process.exit(7), 50)", {
    stdin: "x".repeat(5_000_000),
  });
  expect(outcome).toMatchObject({ ended: "exit", exitCode: 7 });
});

test("characters that were split are decoded whole (C6)", async () => {
  const script = `const bytes = Buffer.from('é京🙂'); let at = 0;
    const next = () => at < bytes.length && process.stdout.write(bytes.subarray(at, ++at), () => setTimeout(next, 5)); next();`;
  expect((await run(script)).output).toBe("é京🙂");
});

test("the last 64 KB of stderr are kept (C6)", async () => {
  const { outcome } = await run("process.stderr.write('a'.repeat(200000) + 'end')");
  expect(outcome).toMatchObject({ stderr: expect.stringMatching(/^a{65533}end$/) });
});

test("output above the limit ends the program and is discarded (C6)", async () => {
  const script =
    "const block = Buffer.alloc(65536, 'x'); const more = () => process.stdout.write(block, more); more();";
  const { outcome, output } = await run(script, { maxOutputBytes: 1_000_000 });
  expect(outcome.ended).toBe("output_limit");
  expect(output.length).toBeLessThanOrEqual(1_000_000);
});

test("a timeout ends a running program (C5)", async () => {
  const { outcome, output } = await run(`console.log(process.pid); ${FOREVER}`, { timeoutMs: PROCESS_STARTED_MS });
  expect(outcome).toMatchObject({ ended: "timeout", signal: "SIGTERM" });
  expect(isAlive(Number(output))).toBe(false);
});

test("a program that ignores SIGTERM is killed after the grace period (C5)", async () => {
  const { outcome, output } = await run(`${IGNORE_SIGNALS} console.log(process.pid); ${FOREVER}`, {
    timeoutMs: PROCESS_STARTED_MS,
  });
  expect(outcome).toMatchObject({ ended: "timeout", signal: "SIGKILL" });
  expect(isAlive(Number(output))).toBe(false);
});

test("forked processes are stopped with the program (C5)", async () => {
  const { outcome, output } = await run(`${FORK} console.log(kid.pid); ${FOREVER}`, { timeoutMs: PROCESS_STARTED_MS });
  expect(outcome.ended).toBe("timeout");
  await expectGone(Number(output));
});

test("forked processes are stopped when the program exits on its own, and do not delay the call (C5)", async () => {
  const { outcome, output } = await run(
    `${FORK} console.log(kid.pid); kid.unref(); setTimeout(() => process.exit(0), 100)`,
  );
  expect(outcome).toMatchObject({ ended: "exit", exitCode: 0 });
  await expectGone(Number(output));
});

test("a process outside the group that holds the pipe does not delay the call", async () => {
  const script = `const kid = require('node:child_process').spawn(process.execPath, ['-e', '${FOREVER}'], { stdio: ['ignore', 'inherit', 'ignore'], detached: true });
    kid.unref(); console.log(kid.pid); setTimeout(() => process.exit(0), 100)`;
  const { outcome, output } = await run(script);
  process.kill(Number(output), "SIGKILL");
  expect(outcome).toMatchObject({ ended: "exit", exitCode: 0 });
});

test("an abort stops the program, before and after its start (C5)", async () => {
  const controller = new AbortController();
  const started = run(`console.log(process.pid); ${FOREVER}`, {
    signal: controller.signal,
    onOutput: () => controller.abort(),
  });
  expect((await started).outcome).toMatchObject({ ended: "aborted", signal: "SIGTERM" });
  expect((await run("console.log('never')", { signal: controller.signal })).outcome.ended).toBe("aborted");
});

test("a shutdown stops all children, shortens the grace period of those already stopping, and waits (A8)", async () => {
  const pids: number[] = [];
  const options = { grace: () => 30_000, onOutput: (text: string) => void pids.push(Number(text)) };
  const ignoring = `${IGNORE_SIGNALS} console.log(process.pid); ${FOREVER}`;
  const runs = [
    run(ignoring, options),
    run(ignoring, { ...options, timeoutMs: PROCESS_STARTED_MS }),
    run(`console.log(process.pid); ${FOREVER}`, options),
  ];
  await expect.poll(() => pids.length, { timeout: 5_000 }).toBe(3);
  // By then the grace period of 30 seconds has begun for the second one.
  await new Promise((resolve) => setTimeout(resolve, PROCESS_STARTED_MS + 500));
  await stopAllChildren(200);
  expect(pids.map(isAlive)).toEqual([false, false, false]);
  const endings = (await Promise.all(runs)).map(({ outcome }) => outcome.ended);
  expect(endings).toEqual(["stopped", "timeout", "stopped"]);
});

test.each([
  ["ENOENT", { command: "/nowhere/gemini" }],
  ["EACCES", { command: "/etc/passwd" }],
  ["E2BIG", { args: ["-e", "0", "x".repeat(3_000_000)] }],
])("a program that cannot start is an outcome, not an exception: %s", async (errorCode, more) => {
  expect((await run("0", more)).outcome).toEqual({ ended: "not_started", errorCode });
});

test("a process that exits at once takes its children along (A8)", async () => {
  const module = JSON.stringify(new URL("./child.ts", import.meta.url).href);
  const script = `const { runChild } = await import(${module});
    const write = (text) => process.stdout.write(text, () => process.exit(0));
    runChild({ command: process.execPath, args: ["-e", ${JSON.stringify(`${IGNORE_SIGNALS} console.log(process.pid); ${FOREVER}`)}], cwd: "/", env: {},
      stdin: "", timeoutMs: 60000, signal: new AbortController().signal, grace: () => 60000, onOutput: write });`;
  const { outcome, output } = await run("", { args: ["--input-type=module", "-e", script] });
  expect(outcome).toMatchObject({ ended: "exit", exitCode: 0 });
  expect(Number(output)).toBeGreaterThan(0);
  await expectGone(Number(output));
});
