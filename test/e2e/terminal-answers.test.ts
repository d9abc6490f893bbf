/** Answers at a real terminal: the text first, laid out; sources as links; one line of figures; the next command. */

import { describe, expect, test } from "vitest";
import { openResearch, QUERY } from "../kit/server/research.ts";
import { openScene } from "../kit/server/scene.ts";
import { openUserTerminal, terminals } from "../kit/server/terminal.ts";

const READY = (await terminals()) === "ready";
const WIDE = { columns: 100, rows: 80 };
/** What only a model or a program reads. */
const FIELDS = /task_id|tokens_used|duration_ms|check_status_command|cursor:|Text from the web|search_queries/;
// oxlint-disable-next-line no-control-regex -- that is what is looked for
const ERASED = /\r\u001B\[2K/g;
// oxlint-disable-next-line no-control-regex -- that is what is looked for
const CODES = /\u001B\[[\d;?]*[A-Za-z]/g;
/** A log line on the line of the progress. */
const GLUED = /\S[^\n]*\[(?:INFO|WARN|ERROR)\]/;

describe.skipIf(!READY)("a question without quotation marks", () => {
  test("is answered: text, sources with titles and links, one line of figures, the next command (F1, U3)", async (context) => {
    const scene = await openScene(context);
    const terminal = await openUserTerminal(context, scene.env, WIDE);
    await terminal.type("clear; gemini-search-mcp search which heat pump is quietest; echo done");
    const screen = await terminal.until(/^done/m);
    expect(screen.trimStart()).toMatch(/^which heat pump is quietest\n\nIn short: /);
    expect(screen).toMatch(/\n\nSources\n +\d+ \S/);
    expect(screen).toMatch(/^ +\d+ Which heat pump is quietest – [^\n]* · [\w.-]+$/m);
    expect(screen).not.toMatch(/https?:/);
    expect(screen).toMatch(
      /\n\n\d+ s · [\d,]+ tokens · \$0\.\d+ · \S+ · run ([0-9a-f]{8})\nSave it: +gemini-search-mcp save \1\ndone/,
    );
    expect(screen).not.toMatch(FIELDS);
    // oxlint-disable-next-line no-control-regex -- that is what is looked for
    expect(terminal.raw()).toMatch(/\u001B\]8;;https:\/\/[\w./%-]+\u001B\\/);
    expect(scene.gemini.ledger.entries()).toMatchObject([{ question: "which heat pump is quietest" }]);
    const [cited = ""] = /\[(\d+)\]/.exec(screen)?.slice(1) ?? [];
    expect(screen).toMatch(new RegExp(`^ +${cited} \\S`, "m"));
  });

  test("shows nothing of an answer that was corrected; --verbose and a log file do (E5)", async (context) => {
    const scene = await openScene(context, "bad-json");
    const terminal = await openUserTerminal(context, scene.env, WIDE);
    await terminal.type("gemini-search-mcp search which is quietest; echo done");
    await terminal.until(/^done/m);
    expect(terminal.raw()).not.toContain("[WARN]");
    const before = terminal.raw().length;
    await terminal.type("clear; gemini-search-mcp search which is quietest --verbose; echo again");
    expect(await terminal.until(/^again/m)).toContain("[WARN] Main search failed: the answer contains no JSON.");
    const shown = terminal.raw().slice(before).replaceAll(ERASED, "\n").replaceAll(CODES, "");
    expect(shown).not.toMatch(GLUED);
    const piped = await scene.command(["search", "which", "is", "quietest"]);
    expect(piped.stderr).toContain("[WARN] Main search failed: the answer contains no JSON.");
  });
});

describe.skipIf(!READY)("Ctrl-C", () => {
  const STUCK = {
    name: "stuck",
    tasks: { search: [{ fault: "hang" as const }], verify: [{ fault: "hang" as const }] },
  };

  test("during an answer reports that there is no answer (A8)", async (context) => {
    const scene = await openScene(context, STUCK);
    const terminal = await openUserTerminal(context, scene.env, WIDE);
    await terminal.type('clear; gemini-search-mcp search which is quietest; echo "code $?"');
    await terminal.until(/Gemini is searching|Searching the web/);
    await terminal.key("C-c");
    const screen = await terminal.until(/code 130/);
    expect(screen).toContain("Stopped. No answer was saved.");
    expect(screen).not.toMatch(/resume|_/);
  });

  test("after the first round of a verification says how to continue, and that command does (Q1)", async (context) => {
    const scene = await openScene(context, STUCK);
    const terminal = await openUserTerminal(context, scene.env, WIDE);
    await terminal.type('clear; gemini-search-mcp deep-search which is quietest; echo "code $?"');
    await terminal.until(/Round 2 of at most 5/);
    await terminal.key("C-c");
    const screen = await terminal.until(/code 130/);
    const [, id = ""] =
      /Stopped after round 1\.\nContinue with the next round \(cents\): gemini-search-mcp retry ([0-9a-f]{8})/.exec(
        screen,
      ) ?? [];
    scene.gemini.setScenario("verified-at-once");
    const resumed = await scene.command(["retry", id, "--wait"]);
    expect([resumed.code, resumed.stdout]).toEqual([0, expect.stringContaining("✓ Verified in round 2")]);
  });
});

describe.skipIf(!READY)("deep research", () => {
  /** The window in which other callers get a result directly. */
  const WINDOW = { RESEARCH_SYNC_WINDOW_MS: "25000" };

  test("that is started in the background returns to the prompt with the command to follow it (I3)", async (context) => {
    const scene = await openResearch(context, { speed: 1 });
    const terminal = await openUserTerminal(context, { ...scene.env, ...WINDOW }, WIDE);
    const started = performance.now();
    await terminal.type("clear; gemini-search-mcp research heat pumps in Norway --no-wait; echo done");
    const screen = await terminal.until(/^done/m);
    expect(performance.now() - started).toBeLessThan(25_000);
    expect(screen).toMatch(/Research started: run ([0-9a-f]{8})\n[\s\S]*Follow it: +gemini-search-mcp watch \1\n/);
    expect(screen).not.toMatch(FIELDS);
    expect(scene.accepted()).toBe(1);
  });

  test("is watched by default; without a cost and with a time left that fits the progress (J2)", async (context) => {
    const scene = await openResearch(context, { speed: 60, status: "in_progress" });
    const terminal = await openUserTerminal(context, { ...scene.env, ...WINDOW });
    await terminal.type("gemini-search-mcp research heat pumps in Norway");
    const screen = await terminal.until(/Press Ctrl-C to leave/);
    expect(screen).toMatch(/^heat pumps in Norway\nRunning/);
    expect(screen).not.toContain("$0.00");
  });

  test("that has ended is printed by watch as its report, tables in boxes (K1)", async (context) => {
    const report = "# Pumps\n\n| Model | Noise |\n|---|--:|\n| **A** | 28 |\n| B | 31 |\n\nDone *well* [cite: 1].";
    const scene = await openResearch(context, { duration_ms: 0, report });
    const { stdout } = await scene.command(["research", QUERY, "--wait", "--json"]);
    const id: string = JSON.parse(stdout).task_id;
    const terminal = await openUserTerminal(context, scene.env, WIDE);
    await terminal.type(`clear; gemini-search-mcp watch ${id.slice(0, 6)}; echo done`);
    const screen = await terminal.until(/^done/m);
    expect(screen).toContain(
      [
        "┌───────┬───────┐",
        "│ Model │ Noise │",
        "├───────┼───────┤",
        "│ A     │    28 │",
        "│ B     │    31 │",
        "└───────┴───────┘",
        "",
        "Done well[1].",
      ].join("\n"),
    );
    expect(screen).toContain(`gemini-search-mcp save ${id.slice(0, 8)}`);
    expect(screen).not.toMatch(FIELDS);
    // With --json a finished run is its status, as before.
    expect(JSON.parse((await scene.command(["watch", id, "--json"])).stdout)).toMatchObject({ status: "completed" });
  });
});

test.skipIf(!READY)("the worker shows a person what it does, and logs otherwise (P2)", async (context) => {
  const scene = await openResearch(context);
  const terminal = await openUserTerminal(context, scene.env, WIDE);
  await terminal.type("clear; gemini-search-mcp worker --until-idle; echo done");
  const screen = await terminal.until(/^done/m);
  expect(screen).toContain("Tracking 0 runs.\nAll runs finished.\ndone");
  expect(terminal.raw()).not.toContain("[INFO]");
});

test("a piped list is tab-separated, without titles, with whole ids (Q2)", async (context) => {
  const scene = await openScene(context);
  await scene.command(["search", "two", "words"]);
  const { stdout } = await scene.command(["list"]);
  expect(stdout).toMatch(
    /^[0-9a-f]{8}-[0-9a-f-]{27}\tcompleted\tsearch\t\d{4}-\d\d-\d\dT[\d:.]+Z\t0\.\d+\ttwo words\n$/,
  );
  expect((await scene.command(["list"])).stdout).toBe(stdout);
  const saved = await scene.command(["save", stdout.slice(0, 8), "--format", "md", "--output-dir", scene.configDir]);
  expect(saved.stdout).toMatch(/^\/\S+\/two words\.md\n$/);
});

test.skipIf(!READY)("serve shows its address and token to a person, without a log (A9)", async (context) => {
  const scene = await openScene(context);
  const terminal = await openUserTerminal(context, scene.env, { columns: 150, rows: 30 });
  await terminal.type('clear; gemini-search-mcp serve --port 0; echo "code $?"');
  const screen = await terminal.until(/^Page: http/m);
  expect(screen).toMatch(/^Access token: \S{20,}$/m);
  expect(screen).toMatch(/^Listening on http:\/\/127\.0\.0\.1:\d+\/mcp$/m);
  expect(screen).not.toContain("[INFO]");
  await terminal.key("C-c");
  await terminal.until(/code 0/);
});

test.skipIf(!READY)(
  "an answer from the web contains no control sequences but our links and styles (T26)",
  async (context) => {
    const hostile = "\u001B]8;;https://evil.test\u0007x \u001B[2J\u009B31m \u202Eevil\u2066 safe\b\b\b\b";
    const url = `https://a.test/\u001B]0;owned\u0007`;
    const report = `# Title ${hostile}\n\n| a ${hostile} | b |\n|---|---|\n| ${hostile} | [link](${url}) |\n\n\`${hostile}\` <${url}>`;
    const text = `\`\`\`json\n${JSON.stringify({ success: true, report })}\n\`\`\``;
    const scene = await openScene(context, { name: "hostile", tasks: { search: [{ answer: "raw", text }] } });
    const terminal = await openUserTerminal(context, scene.env, WIDE);
    const before = terminal.raw().length;
    const title = await terminal.readVariable("pane_title");
    await terminal.type("gemini-search-mcp search what does it do; echo done");
    await terminal.until(/^done/m);
    // oxlint-disable-next-line no-control-regex -- the links and styles of this program
    const OURS = /\u001B\]8;;(?:https:\/\/[\w.%/?=&+:;~-]+)?\u001B\\|\u001B\[[\d;]*m|\r\u001B\[2K|\r/g;
    const raw = terminal.raw().slice(before).replaceAll(OURS, "");
    expect(raw).toContain("evil");
    // oxlint-disable-next-line no-control-regex -- that is what is looked for
    expect(raw.match(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/)).toBeNull();
    expect(await terminal.readVariable("pane_title")).toBe(title);
  },
);
