/** The command line as people and scripts use it: answers on stdout, everything else on stderr, exit codes. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openScene } from "../kit/server/scene.ts";
import { ROOT } from "../kit/server/server.ts";
import { storedRun } from "../kit/store/stored-run.ts";
import { waitFor } from "../kit/wait-for.ts";

const QUERY = "How do heat pumps perform in cold climates?";
const SOON = { interval: 10 };
const { name: NAME, version: VERSION } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

describe("search", () => {
  test("prints the answer on stdout and progress on stderr only, exit 0 (F1)", async (context) => {
    const scene = await openScene(context);
    const { code, stdout, stderr } = await scene.command(["search", QUERY]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^# How do heat pumps [\s\S]*\n\nSources:\n\d+\. [\s\S]*\n\n\d+ s · [\d,]+ tokens · \$0\.\d+ · \S+ · run [\w-]{36}\n$/,
    );
    expect(stderr).toMatch(/^Searching the web \([0-9a-f]{8}\)/);
    expect(stdout).not.toContain("Searching the web");
    expect(stderr).not.toContain("# How do heat pumps");
  });

  test("reads the question from stdin for `-` (F1)", async (context) => {
    const scene = await openScene(context);
    const { code } = await scene.command(["search", "-"], { stdin: `${QUERY}\nAnd in deserts?\n` });
    expect(code).toBe(0);
    expect(scene.gemini.ledger.entries()).toMatchObject([{ question: `${QUERY}\nAnd in deserts?` }]);
  });

  test("prints the same answer as the tool, as JSON (F2)", async (context) => {
    const scene = await openScene(context);
    const { code, stdout } = await scene.command(["search", QUERY, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      success: true,
      result: expect.stringContaining(`# ${QUERY}`),
      metadata: { query: QUERY, model: "gemini-3.8-flash", cost_usd: expect.any(Number) },
    });
  });

  test("prints a long report whole through a pipe", async (context) => {
    const report = `${"A long report. ".repeat(60_000)}The end.`;
    const text = `\`\`\`json\n${JSON.stringify({ success: true, report })}\n\`\`\``;
    const scene = await openScene(context, { name: "long", tasks: { search: [{ answer: "raw", text }] } });
    const { code, stdout } = await scene.command(["search", QUERY, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).result).toBe(report);
  });

  test("treats a reader of the help that closes early as no error (A4)", async (context) => {
    const scene = await openScene(context);
    const { child, ended } = scene.startCommand(["--help"]);
    child.stdout.destroy();
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
  });

  test("treats a reader that closes early as no error", async (context) => {
    const scene = await openScene(context, { name: "slow", latency_ms: 200 });
    const { child, ended } = scene.startCommand(["search", QUERY]);
    child.stdout.destroy();
    expect((await ended).code).toBe(0);
  });
});

const ESCAPES = {
  clipboard: "\u001B]52;c;cm0gLXJmIC8=\u0007",
  colour: "\u001B[31;1mred\u001B[0m",
  title: "\u001B]0;owned\u001B\\",
  c1: "\u009B2J",
  bell: "\u0007",
  backspace: "safe\b\b\b\bevil",
  direction: "\u202Eevil\u2066",
};

/** Characters that affect a terminal: all control characters but the line break, and direction marks. */
const ACTS = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/;

describe("text from the web", () => {
  test("reaches stdout and stderr without terminal control sequences (T26)", async (context) => {
    const report = `Before ${Object.values(ESCAPES).join(" ")} after.`;
    const text = `\`\`\`json\n${JSON.stringify({ success: true, report })}\n\`\`\``;
    const scene = await openScene(context, { name: "hostile", tasks: { search: [{ answer: "raw", text }] } });
    for (const flags of [[], ["--json"]]) {
      const { code, stdout, stderr } = await scene.command(["search", QUERY, ...flags]);
      expect(code).toBe(0);
      expect(stdout).toMatch(/Before .*red.* after\./);
      expect(stdout + stderr).not.toMatch(ACTS);
    }
  });

  test("has no control sequences in the kept part of a failed answer or in a listed question either (T26)", async (context) => {
    const text = `Found ${Object.values(ESCAPES).join(" ")} it.`;
    const bad = [{ answer: "raw" as const, text }];
    const scene = await openScene(context, { name: "hostile", tasks: { search: bad, correct_json: bad } });
    const query = `What does ${Object.values(ESCAPES).join(" ")} do?`;
    const failed = await scene.command(["search", query], { env: { JSON_MAX_RETRIES: "1" } });
    expect(failed.code).toBe(1);
    expect(failed.stderr).toMatch(/Received so far: Found .*red/);
    expect(failed.stderr).not.toMatch(ACTS);
    const listed = await scene.command(["list"]);
    expect(listed.stdout).toMatch(/\tWhat does .*red/);
    expect(listed.stdout.replaceAll("\t", "")).not.toMatch(ACTS);
  });
});

describe("wrong arguments", () => {
  test.for([
    "HOSTILE",
    "--HOSTILE",
    "open HOSTILE",
    "save latest --format HOSTILE",
    "status HOSTILE --json",
    "show HOSTILE",
    "completion HOSTILE",
  ])("are quoted without terminal control sequences: %s (T26)", async (line, context) => {
    const scene = await openScene(context);
    const hostile = `x${Object.values(ESCAPES).join("")}x`;
    const args = line.split(" ").map((arg) => arg.replace("HOSTILE", hostile));
    const { code, stdout, stderr } = await scene.command(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(/xred/);
    expect(stdout + stderr).not.toMatch(ACTS);
  });
});

describe("exit codes", () => {
  test("1 is a failure; the reason is on stderr, with --json also on stdout", async (context) => {
    const scene = await openScene(context, { name: "x", tasks: { search: [{ fault: "http-403" }] } });
    const plain = await scene.command(["search", QUERY]);
    expect(plain).toMatchObject({ code: 1, stdout: "" });
    expect(plain.stderr).toContain("GEMINI_UNAVAILABLE: Google does not allow this key");
    const json = await scene.command(["search", QUERY, "--json"]);
    expect(json.code).toBe(1);
    expect(json.stderr).toContain("GEMINI_UNAVAILABLE: Google does not allow this key");
    expect(JSON.parse(json.stdout)).toMatchObject({ success: false, error: { code: "GEMINI_UNAVAILABLE" } });
  });

  test.for([
    [["search", "?!"], /INVALID_QUERY: The question must have at least one letter or digit/],
    [["search"], /missing required argument 'question'/],
    [["deep-search", QUERY, "--max-iterations", "1"], /INVALID_INPUT: --rounds must be/],
    [["deep-search", QUERY, "--max-iterations", "50"], /INVALID_INPUT: --rounds must be a whole number from 2 to 20\./],
    [["deep-search", QUERY, "--rounds", "two"], /INVALID_INPUT: --rounds must be/],
    [["deep-research", QUERY, "--depth", "endless"], /Allowed choices are concise, detailed/],
    [["show", "42"], /INVALID_TASK_ID/],
    [["list", "--limit", "0"], /INVALID_INPUT: --limit must be/],
    [["no-such-command"], /unknown command 'no-such-command'/],
    [["--no-such-flag"], /unknown option '--no-such-flag'/],
  ] as const)("2 is wrong usage, explained: %j", async ([args, message], context) => {
    const scene = await openScene(context);
    const { code, stdout, stderr } = await scene.command([...args]);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(message);
    expect(scene.gemini.ledger.count()).toBe(0);
  });

  test("a question without a command names the command that asks it (A4)", async (context) => {
    const scene = await openScene(context);
    const hint = async (...args: string[]) => /^To ask.*$/m.exec((await scene.command(args)).stderr)?.[0];
    const search = "To ask this question: gemini-search-mcp search";
    expect(await hint("heat", "pumps", "in", "Norway")).toBe(`${search} heat pumps in Norway`);
    expect(await hint("What is Norway's share?")).toBe(`${search} 'What is Norway'\\''s share?'`);
    expect(await hint("no-such-command")).toBeUndefined();
    expect(await hint("show", "--no-such-flag", "x")).toBeUndefined();
    expect(scene.gemini.ledger.count()).toBe(0);
  });

  test("130 is an interruption, in time, with the run marked as such", async (context) => {
    const scene = await openScene(context, { name: "hangs", tasks: { search: [{ fault: "hang" }] } });
    const { child, ended } = scene.startCommand(["search", QUERY]);
    await waitFor(() => expect(scene.gemini.ledger.count()).toBe(1), SOON);
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 130, stdout: "" });
    const [taskId = ""] = (await scene.command(["list"])).stdout.split("\t");
    expect(storedRun(scene.configDir, taskId)).toMatchObject({ status: "failed", error_code: "INTERRUPTED" });
  });
});

describe("the other commands", () => {
  test("list and show return a stored run, as text and as JSON (Q2, K1)", async (context) => {
    const scene = await openScene(context);
    await scene.command(["search", QUERY]);
    const listed = JSON.parse((await scene.command(["list", "--json", "--limit", "5"])).stdout);
    const [{ task_id }] = listed.runs;
    expect(listed).toMatchObject({ success: true, runs: [{ kind: "search", query: QUERY, status: "completed" }] });
    expect((await scene.command(["list", "--status", "failed"])).stdout).toBe("");
    for (const flags of ["--status done --kind search", "--status completed", "--kind search"]) {
      expect((await scene.command(["list", ...flags.split(" ")])).stdout).toContain(task_id);
    }
    for (const flags of ["--status running", "--status running_async", "--kind research", "--kind deep-search"]) {
      expect((await scene.command(["list", ...flags.split(" ")])).stdout).toBe("");
    }
    expect(await scene.command(["list", "--status", "finished"])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/Allowed choices are\s+waiting,\s+running,\s+unknown,/),
    });

    const read = await scene.command(["show", task_id]);
    expect(read.code).toBe(0);
    expect(read.stdout).toMatch(/^# How do heat pumps [\s\S]*\nSources:\n\d+\. /);
    const bare = await scene.command(["show", task_id, "--no-include-sources", "--json"]);
    expect(JSON.parse(bare.stdout)).not.toHaveProperty("sources");
    expect(scene.gemini.ledger.count()).toBe(1);
  });

  test("verify accepts max-iterations, and logs warnings but no rounds (G1, G7)", async (context) => {
    const scene = await openScene(context, "never-verified");
    const { code, stdout, stderr } = await scene.command(["deep-search", QUERY, "--max-iterations", "2"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Not verified after 2 rounds\n\d+ claims: .+\nVerification was not completed/);
    expect(stderr).toContain("Round 2 of at most 2: verifying");
    expect(stderr).not.toContain("[INFO]");
  });

  test("--version prints the version of package.json (A4)", async (context) => {
    const scene = await openScene(context);
    expect(await scene.command(["--version"])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: "" });
  });

  test("--help documents the exit codes", async (context) => {
    const { code, stdout, stderr } = await (await openScene(context)).command(["--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`Usage: ${NAME}`);
    expect(stdout).toMatch(/Exit codes: 0 .*, 1 [^]*, 2 [^]*, 130 /);
  });
});
