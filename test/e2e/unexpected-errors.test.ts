/** Unexpected errors are logged with their source line, through source maps that nothing else reads. */

import { execFile, execFileSync, spawn } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { type Ending, openScene } from "../kit/server/scene.ts";
import { ROOT, temporaryDirectory } from "../kit/server/server.ts";

const QUERY = "How do heat pumps work in cold climates?";
const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;

/** Node runs this before the program: the program's own code then fails where it calls what was replaced. */
const before = (code: string) => ({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` });
const BROKEN_SEARCH = before('AbortSignal.any = () => { throw new TypeError("forced") }');

/** The installed program in a directory of its own, its source maps left out. */
function copyWithoutMaps({ onTestFinished }: Ending): string {
  const copy = temporaryDirectory();
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  const filter = (file: string): boolean => !file.endsWith(".map");
  for (const part of ["bin", "dist", "prompts", "templates", "package.json"])
    cpSync(join(ROOT, part), join(copy, part), { recursive: true, filter });
  return copy;
}

interface Program {
  env: Record<string, string>;
  root?: string;
}

const run = async (args: string[], { env, root = ROOT }: Program) => {
  const program = [join(root, "bin/gemini-search-mcp.js"), ...args];
  const { code = 0, stderr } = (await promisify(execFile)(process.execPath, program, { env, timeout: 30_000 }).catch(
    (failure: { code: number; stderr: string }) => failure,
  )) as { code?: number; stderr: string };
  return { code, stderr };
};

/** The source text at the first frame that names a source of ours. */
function sourceLineOf(stack: string): string {
  const [, file = "", line] = /\(?(src\/[\w/.-]+\.ts):(\d+):\d+/.exec(stack) ?? [];
  return readFileSync(join(ROOT, file), "utf8").split("\n")[Number(line) - 1] ?? "";
}

test("an unexpected error is logged with the source line it comes from, the version and the run (A2)", async (context) => {
  const scene = await openScene(context);
  const { code, stderr } = await run(["search", QUERY], { env: { ...scene.env, ...BROKEN_SEARCH } });
  expect(code).toBe(1);
  const logged = `\\[ERROR\\] Unexpected error \\w{8} in version ${VERSION}: TypeError: forced \\(${TIME}, run [\\w-]{36}\\)`;
  expect(stderr).toMatch(new RegExp(`^${logged}$`, "m"));
  expect(sourceLineOf(stderr)).toContain("AbortSignal.any(");
  expect(stderr).not.toContain("/dist/");
});

test("without maps the stack is logged as it is, and can be mapped later (A2)", async (context) => {
  const scene = await openScene(context);
  const root = copyWithoutMaps(context);
  const { stderr } = await run(["search", QUERY], { env: { ...scene.env, ...BROKEN_SEARCH }, root });
  expect(stderr).toMatch(/^ +at .*file:\/\/\S+\/dist\/[\w-]+\.js:\d+:\d+\)?$/m);
  expect(stderr).not.toContain("src/");

  const script = spawn(process.execPath, [join(ROOT, "scripts/map-stack.ts")], { stdio: ["pipe", "pipe", "inherit"] });
  script.stdin.end(stderr);
  const mapped = await text(script.stdout);
  expect(sourceLineOf(mapped)).toContain("AbortSignal.any(");
  expect(mapped).not.toContain("/dist/");
});

test("a start, a search and an expected failure open no map (A2)", async (context) => {
  const scene = await openScene(context);
  const root = copyWithoutMaps(context);
  const maps = readdirSync(join(ROOT, "dist")).filter((file) => file.endsWith(".map"));
  expect(maps.length).toBeGreaterThan(50);
  // Opening a pipe that has no writer never returns.
  execFileSync(
    "mkfifo",
    maps.map((file) => join(root, "dist", file)),
  );
  expect((await run(["search", QUERY], { env: scene.env, root })).code).toBe(0);
  expect((await run(["search", "?"], { env: scene.env, root })).code).toBe(2);
});

test("an error before the log exists is printed with its source line (A2)", async (context) => {
  const scene = await openScene(context);
  const env = before('globalThis.AbortController = class { constructor() { throw new TypeError("forced") } }');
  const { code, stderr } = await run(["list"], { env: { ...scene.env, ...env } });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    new RegExp(`^\\[ERROR\\] Unexpected error \\w{8} in version ${VERSION}: .*forced \\(${TIME}\\)\n`),
  );
  expect(sourceLineOf(stderr)).toContain("new AbortController(");
});

test("an uncaught error ends the program as one log entry, without the text of the bundle (A2)", async (context) => {
  const scene = await openScene(context);
  const env = before('setTimeout(() => { throw new TypeError("forced") }, 1_000)');
  const { code, stderr } = await run(["serve", "--port", "0"], { env: { ...scene.env, ...env } });
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`^\\[ERROR\\] Unexpected error \\w{8} in version .*: forced \\(${TIME}\\)$`, "m"));
  expect(stderr).not.toContain("throw new");
});

test("the published package has no source maps (A2)", async () => {
  const { stdout } = await promisify(execFile)("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: ROOT,
  });
  const [{ files }] = JSON.parse(stdout);
  const paths = files.map(({ path }: { path: string }) => path);
  expect(paths).toContain("dist/main.js");
  expect(paths.filter((path: string) => path.endsWith(".map"))).toEqual([]);
});

test("a message of more than 10 MB over stdio ends the server with exit code 1, and the log has the reason (A8)", async (context) => {
  const scene = await openScene(context);
  const { code, stderr } = await scene.command([], { stdin: "x".repeat(12_000_000) });
  expect(code).toBe(1);
  expect(stderr).toContain("[WARN] The client sent a message of more than 10 MB");
});
