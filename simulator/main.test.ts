/** The simulator as a process: it reports its URL, writes nothing to stdout, and exits with its parent. */

import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";

const MAIN = join(import.meta.dirname, "main.ts");

interface Started {
  child: ChildProcess;
  url: string;
  output: Promise<{ stdout: string; stderr: string }>;
}

function start(args: string[]): Omit<Started, "url"> {
  const child = fork(MAIN, args, { stdio: ["pipe", "pipe", "pipe", "ipc"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  if (child.stdout === null || child.stderr === null) throw new Error("No pipes.");
  const output = Promise.all([text(child.stdout), text(child.stderr)]).then(([stdout, stderr]) => ({
    stdout,
    stderr,
  }));
  return { child, output };
}

async function startAndWait(args: string[]): Promise<Started> {
  const started = start(args);
  const [message] = await once(started.child, "message");
  return { ...started, url: String(message.url) };
}

const ends: [string, string[], (child: ChildProcess) => unknown][] = [
  ["SIGTERM", [], (child) => child.kill("SIGTERM")],
  ["a parent that disconnects", [], (child) => child.disconnect()],
  ["the end of stdin, if requested", ["--exit-with-stdin"], (child) => child.stdin?.end()],
];

test.each(ends)("the simulator ends with %s, with nothing on stdout", async (_, args, end) => {
  const { child, url, output } = await startAndWait(args);
  expect((await fetch(`${url}/__simulator/ledger`)).status).toBe(200);
  const exit = once(child, "exit");
  end(child);
  expect(await exit).toEqual([0, null]);
  const { stdout, stderr } = await output;
  expect(stdout).toBe("");
  expect(stderr).toContain(`listening on ${url} `);
});

test("the simulator reads a scenario from a file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "simulator-main-"));
  const file = join(folder, "mine.json");
  await writeFile(file, JSON.stringify({ name: "mine", refuses: "key-invalid" }));
  const { child, url } = await startAndWait(["--scenario", file]);
  const response = await fetch(`${url}/v1beta/models/m:generateContent`, {
    method: "POST",
    headers: { "x-goog-api-key": "k" },
    body: "{}",
  });
  expect(await response.text()).toContain("API_KEY_INVALID");
  child.kill();
  await once(child, "exit");
  await rm(folder, { recursive: true });
});

test("the simulator keeps its interactions in a file, even when it is killed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "simulator-main-"));
  const args = ["--scenario", "research-fast", "--state", join(folder, "runs.jsonl")];
  const headers = { "x-goog-api-key": "k" };
  const body = JSON.stringify({ agent: "deep-research-preview-04-2026", input: "Tea?", background: true });
  const first = await startAndWait(args);
  const started = await fetch(`${first.url}/v1beta/interactions`, { method: "POST", headers, body });
  const { id }: { id: string } = JSON.parse(await started.text());
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  const second = await startAndWait(args);
  const found = await fetch(`${second.url}/v1beta/interactions/${id}`, { headers });
  expect(await found.json()).toMatchObject({ id, status: "completed" });
  second.child.kill();
  await once(second.child, "exit");
  await rm(folder, { recursive: true });
});

test("the simulator reports what is wrong with its arguments", async () => {
  const { child, output } = start(["--scenario", "nope"]);
  expect(await once(child, "exit")).toEqual([2, null]);
  expect((await output).stderr).toMatch(/^There is no scenario "nope"\. There are: good, /);
});
