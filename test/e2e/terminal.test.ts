/** The live view at a real terminal: window sizes, signals, and hostile text from the web. */

import { describe, expect, test, type TestContext } from "vitest";
import { childrenOf } from "../kit/server/processes.ts";
import { type Interactions, openResearch, QUERY, type ResearchScene } from "../kit/server/research.ts";
import { openUserTerminal, terminals, type UserTerminal } from "../kit/server/terminal.ts";
import { waitFor } from "../kit/wait-for.ts";

const READY = (await terminals()) === "ready";

/** Sends events for some seconds, and never ends on its own. */
const ENDLESS = { speed: 60, status: "in_progress" };
/** So few events that all of them fit into the window, however late it is opened. */
const SHORT = {
  ...ENDLESS,
  course: ["One", "Two", "Three"].map((step) => ({ thought: `**${step}**`, queries: ["heat pumps"] })),
};
/** What the view itself writes: its screen, the cursor, where a line begins and ends, colours. */
// oxlint-disable-next-line no-control-regex -- that is what is looked for
const OURS = /\u001B\[(?:\?1049[hl]|\?25[hl]|\?2004[hl]|H|2?K|J|[\d;]*m)/g;
// oxlint-disable-next-line no-control-regex -- that is what is looked for
const COLOUR = /\u001B\[[\d;]+m/;
// oxlint-disable-next-line no-control-regex -- that is what is looked for
const ACTS = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/;

/** Of the whole run, with its range, neither of them cut off. */
const EXPECTED_COST = String.raw`about \$1\.\d\d total \(\$0\.\d\d to \$2\.\d\d\)`;

const HOSTILE = [
  "\u001B]0;owned\u0007",
  "\u001B]52;c;cm0gLXJmIC8=\u001B\\",
  "\u001B[2J\u001B[1;1H",
  "\u009B31m",
  "safe\b\b\b\bevil",
  "\u202Eevil\u2066",
].join(" ");

async function start(scene: ResearchScene, query = QUERY): Promise<string> {
  const { stdout } = await scene.command(["research", query, "--json"]);
  return JSON.parse(stdout).task_id;
}

/** The block begins at the top and ends before the bottom: nothing was scrolled away. */
function expectWholeView(screen: string, { columns, rows }: { columns: number; rows: number }): void {
  const lines = screen.split("\n");
  expect(lines.length).toBeLessThanOrEqual(rows);
  expect(lines[0]).toMatch(/^How do heat pumps/);
  expect(screen).toMatch(/Running +█*░+ +~?\d+ %/);
  expect(screen).toMatch(/\d+ s, about \d+ min left/);
  expect(screen).toMatch(new RegExp(`${EXPECTED_COST}$`, "m"));
  expect(screen).not.toContain("$0.00");
  expect(screen.trimEnd().split("\n").at(-1)).toMatch(/^Press Ctrl-C to leave/);
  for (const line of lines) expect(line.length).toBeLessThan(columns);
}

/** Repeated, because a screen can be read while it is being drawn. */
const untilWholeView = (terminal: UserTerminal, { shows, ...size }: { columns: number; rows: number; shows: RegExp }) =>
  waitFor(async () => expectWholeView(await terminal.until(shows), size));

async function openWatch(
  context: Pick<TestContext, "onTestFinished">,
  more = "",
  interactions: Interactions = ENDLESS,
) {
  const scene = await openResearch(context, interactions);
  const taskId = await start(scene);
  const terminal = await openUserTerminal(context, scene.env);
  await terminal.type(`${more}gemini-search-mcp watch ${taskId.slice(0, 8)}; echo "code $?"`);
  return { scene, terminal, taskId };
}

const running = async (terminal: UserTerminal): Promise<number> =>
  childrenOf(Number(await terminal.readVariable("pane_pid"))).living[0] ?? 0;

describe.skipIf(!READY)("the live view", () => {
  test.for([
    { columns: 80, rows: 24 },
    { columns: 40, rows: 12 },
  ])("fits $columns × $rows and shows the state of the run (J2, J3)", async (size, context) => {
    const scene = await openResearch(context, ENDLESS);
    const terminal = await openUserTerminal(context, scene.env, size);
    await terminal.type(`gemini-search-mcp research "${QUERY}" --wait`);
    await terminal.until(/^[›·] /m);
    await untilWholeView(terminal, { ...size, shows: /Now: / });
    expect(await terminal.readVariable("cursor_flag")).toBe("0");
  });

  test("shows the phase, the searches and the sites so far in one line, and each of them below (J3)", async (context) => {
    const { terminal } = await openWatch(context, "", SHORT);
    await terminal.until(/^(?:Searching|Reading) · 3 searches · [1-9]\d* sites?$/m);
    await terminal.until(/^\+ [a-z.-]+\.(?:example|test|org|net)$/m);
    await terminal.resize(30, 12);
    expect(await terminal.until(/^(?:Searching|Reading) · \d+ searche?s?.*…$/m)).not.toMatch(/^ \d+ sites/m);
    // Drawn in place: the normal screen and its scroll-back get nothing.
    await terminal.key("C-c");
    expect(await terminal.until(/code 130/)).not.toMatch(/ sites?$/m);
  });

  test("says that a run takes longer than usual, and so does its status (J2)", async (context) => {
    const { scene, terminal, taskId } = await openWatch(context);
    await terminal.until(/about \d+ min left/);
    const past = 16 * 60_000;
    scene.sql("update research_tasks set created_at = created_at - ?, started_at = started_at - ?", past, past);
    await terminal.until(new RegExp(`^1[6-9] min \\d+ s, longer than usual · ${EXPECTED_COST}$`, "m"));
    await terminal.key("C-c");
    await terminal.until(/code 130/);
    await terminal.type(`clear; gemini-search-mcp check-research-status ${taskId.slice(0, 8)}; echo done`);
    expect(await terminal.until(/^done/m)).toMatch(/1[6-9] min \d+ s · longer than usual/);
    const { stdout } = await scene.command(["check-research-status", taskId, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ status: "running_async", estimated_completion_minutes: 0 });
  });

  test("of a deep search shows its round (G4)", async (context) => {
    const scene = await openResearch(context);
    scene.gemini.setScenario({ name: "slow", tasks: { verify: [{ latency_ms: 600_000 }] } });
    scene.startCommand(["deep-search", QUERY]);
    const taskId = await waitFor(() => {
      const [round] = scene.sql<{ task_id: string }>("select task_id from research_events where kind = 'round'");
      expect(round).toBeDefined();
      return round?.task_id ?? "";
    });
    const terminal = await openUserTerminal(context, scene.env);
    await terminal.type(`gemini-search-mcp watch ${taskId.slice(0, 8)}`);
    await terminal.until(/^Round 2 of at most 5: verifying · \d+ search(?:es)? · \d+ sites?$/m);
  });

  test("adapts when the window is resized", async (context) => {
    const { terminal } = await openWatch(context);
    await terminal.until(/^[›·] /m);
    await terminal.resize(40, 12);
    await untilWholeView(terminal, { columns: 40, rows: 12, shows: /~\d+ %/ });
    await terminal.resize(100, 30);
    await untilWholeView(terminal, { columns: 100, rows: 30, shows: /% \(estimate\)/ });
  });

  test("ends with Ctrl-C, restores screen and cursor, and says how to return; the research continues", async (context) => {
    const { scene, terminal, taskId } = await openWatch(context);
    await terminal.until(/^[›·] /m);
    await terminal.key("C-c");
    const screen = await terminal.until(/code 130/);
    expect(screen).toMatch(/^Still running at Google\. An open assistant, a server or a worker collects the$/m);
    expect(screen).toMatch(new RegExp(`^Watch it again: gemini-search-mcp watch ${taskId.slice(0, 8)}$`, "m"));
    expect(screen).toMatch(/^(?:Be notified|Collect it): +gemini-search-mcp worker --until-idle$/m);
    expect(screen).toContain("$ gemini-search-mcp watch");
    expect(screen).not.toContain("Running");
    expect([await terminal.readVariable("cursor_flag"), await terminal.readVariable("alternate_on")]).toEqual([
      "1",
      "0",
    ]);
    const { stdout } = await scene.command(["check-research-status", taskId, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ status: "running_async" });
  });

  test.for(["SIGTERM", "SIGHUP"] as const)("restores screen and cursor after %s (A8)", async (signal, context) => {
    const { terminal } = await openWatch(context);
    await terminal.until(/^[›·] /m);
    process.kill(await running(terminal), signal);
    await terminal.until(/code 130/);
    expect([await terminal.readVariable("cursor_flag"), await terminal.readVariable("alternate_on")]).toEqual([
      "1",
      "0",
    ]);
  });

  test("restores them after Ctrl-Z too, and draws again after fg", async (context) => {
    const { terminal } = await openWatch(context);
    await terminal.until(/^[›·] /m);
    await terminal.key("C-z");
    await terminal.until(/Stopped/);
    expect([await terminal.readVariable("cursor_flag"), await terminal.readVariable("alternate_on")]).toEqual([
      "1",
      "0",
    ]);
    await terminal.type("fg");
    await terminal.until(/^Press Ctrl-C to leave/m);
    expect(await terminal.readVariable("cursor_flag")).toBe("0");
  });

  test("ends with the report when the run does", async (context) => {
    const scene = await openResearch(context, { speed: 200 });
    const terminal = await openUserTerminal(context, scene.env);
    await terminal.type(`gemini-search-mcp research "${QUERY}" --wait; echo "code $?"`);
    expect(await terminal.until(/code 0/)).toMatch(/tokens · \$1\.\d\d · \S+ · run [0-9a-f]{8}$/m);
    expect(await terminal.readVariable("cursor_flag")).toBe("1");
  });
});

describe.skipIf(!READY)("colours", () => {
  test("are used at a terminal", async (context) => {
    const { terminal } = await openWatch(context);
    await terminal.until(/^[›·] /m);
    expect(terminal.raw()).toMatch(COLOUR);
  });

  test.for(["NO_COLOR=1 ", "TERM=dumb "])("are not used: %s", async (setting, context) => {
    const { terminal, taskId } = await openWatch(context, setting);
    await terminal.until(/\d+ %/);
    expect(terminal.raw()).not.toMatch(COLOUR);
    await terminal.key("C-c");
    await terminal.until(/code 130/);
    await terminal.type(`clear; gemini-search-mcp list --no-color; echo "code $?"`);
    expect(await terminal.until(/code 0/)).toContain(taskId.slice(0, 8));
    expect(terminal.raw()).not.toMatch(COLOUR);
  });

  test("a terminal that cannot move its cursor gets a line per change", async (context) => {
    const { terminal } = await openWatch(context, "TERM=dumb ");
    await terminal.until(/% \(estimate\), [\d.]+ min: /);
    expect(terminal.raw()).not.toContain("\u001B[?1049h");
  });
});

describe.skipIf(!READY)("text from the web and from models", () => {
  test("contains no control sequences in questions, thoughts and searches (T26)", async (context) => {
    const scene = await openResearch(context, ENDLESS);
    const taskId = await start(scene, `What does ${HOSTILE} do?`);
    const terminal = await openUserTerminal(context, scene.env);
    const before = terminal.raw().length;
    const title = await terminal.readVariable("pane_title");
    await terminal.type(`gemini-search-mcp watch ${taskId.slice(0, 8)}`);
    await terminal.until(/^[›·] /m);
    await terminal.key("C-c");
    await terminal.until(/Still running/);
    await terminal.type("gemini-search-mcp list; gemini-search-mcp list safe; echo done");
    await terminal.until(/^done/m);
    const raw = terminal.raw().slice(before).replaceAll(OURS, "").replaceAll("\r", "");
    expect(raw).toContain("evil");
    expect(raw.match(ACTS)).toBeNull();
    expect(await terminal.readVariable("pane_title")).toBe(title);
  });
});

describe.skipIf(!READY)("answers at a terminal", () => {
  test("the list fits the window, and its short ids are accepted (Q2)", async (context) => {
    const scene = await openResearch(context, { duration_ms: 0 });
    const taskId = await start(scene, "ヒートポンプは寒冷地でどのように機能しますか。詳しく教えてください。".repeat(2));
    const terminal = await openUserTerminal(context, scene.env, { columns: 60, rows: 24 });
    await terminal.type("clear; gemini-search-mcp list; echo done");
    const screen = await terminal.until(/^done/m);
    expect(screen).toMatch(new RegExp(`^${taskId.slice(0, 8)} .*ヒート.*…$`, "m"));
    // A line that did not fit would have taken two.
    expect(screen.trimEnd().split("\n")).toHaveLength(4);
  });

  test("a report is laid out: headings bold, lines wrapped, no Markdown marks (K1)", async (context) => {
    const report = `# Heat pumps\n\n${"They **work** in the cold. ".repeat(20)}\n\n- One\n- Two [cite: 1]`;
    const scene = await openResearch(context, { duration_ms: 0, report });
    const taskId = await start(scene);
    await scene.command(["watch", taskId]);
    const terminal = await openUserTerminal(context, scene.env, { columns: 60, rows: 120 });
    await terminal.type(`clear; gemini-search-mcp show ${taskId.slice(0, 6)}; echo done`);
    const screen = await terminal.until(/^done/m);
    expect(screen).toMatch(/^Heat pumps$/m);
    expect(screen).toMatch(/^• One\n• Two\[1\]$/m);
    expect(screen).not.toContain("**");
    expect((await terminal.screen({ colors: true })).join("\n")).toMatch(/\u001B\[1;4mHeat pumps/);
    const piped = await scene.command(["show", taskId]);
    expect(piped.stdout).toContain("# Heat pumps\n\nThey **work** in the cold.");
  });

  test("warnings of a command have a time in a file, and none at a terminal (A2)", async (context) => {
    const scene = await openResearch(context);
    const terminal = await openUserTerminal(
      context,
      { ...scene.env, JSON_MAX_RETRIES: "many" },
      { columns: 120, rows: 24 },
    );
    const command = "gemini-search-mcp list";
    await terminal.type(`clear; ${command}; ${command} 2>&1 | cat; echo done`);
    const screen = await terminal.until(/^done/m);
    const warnings = screen.match(/(?<=^\[WARN\] JSON_MAX_RETRIES .* is used instead\.).*/gm) ?? [];
    expect(warnings).toEqual(["", expect.stringMatching(/^ \([\d:.TZ-]{24}\)$/)]);
  });
});
