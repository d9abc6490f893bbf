/** The commands around runs as people and scripts use them: short ids, find, figures, JSON in every case. */

import { describe, expect, test } from "vitest";
import { commandsOf, createProgram } from "../../src/cli/program.ts";
import { openResearch, QUERY, type ResearchScene } from "../kit/server/research.ts";
import { openScene } from "../kit/server/scene.ts";

const AT_ONCE = { duration_ms: 0 };

async function start(scene: ResearchScene, query = QUERY): Promise<string> {
  const { stdout } = await scene.command(["research", query, "--wait", "--json"]);
  return JSON.parse(stdout).task_id;
}

describe("a prefix of a task_id", () => {
  test("is accepted wherever a command takes a task_id", async (context) => {
    const scene = await openResearch(context, AT_ONCE);
    const taskId = await start(scene);
    for (const length of [4, 8, 35]) {
      const { code, stdout } = await scene.command(["watch", taskId.slice(0, length), "--json"]);
      expect([code, JSON.parse(stdout).task_id]).toEqual([0, taskId]);
    }
    const upper = await scene.command(["show", taskId.slice(0, 8).toUpperCase(), "--json"]);
    expect(JSON.parse(upper.stdout)).toMatchObject({ success: true, task_id: taskId });
  });

  test("that is unknown, ambiguous or of another owner is refused (A6, A11)", async (context) => {
    const scene = await openResearch(context, AT_ONCE);
    const taskId = await start(scene);
    const twin = `${taskId.slice(0, 35)}${taskId.endsWith("0") ? "1" : "0"}`;
    const columns = scene.sql<{ name: string }>("select name from pragma_table_info('research_tasks')");
    const others = columns.map(({ name }) => name).filter((name) => name !== "task_id" && name !== "owner");
    const copy = (id: string, owner: string) =>
      scene.sql(
        `insert into research_tasks (task_id, owner, ${others.join(", ")}) select ?, ?, ${others.join(", ")} from research_tasks where task_id = ?`,
        id,
        owner,
        taskId,
      );
    copy(`eeeeee00${taskId.slice(8)}`, "anna");
    const cases = [
      ["turbines", 2, "INVALID_TASK_ID", /There is no run with “turbines” in its title/],
      ["eeeeee", 1, "TASK_NOT_FOUND", /begins with eeeeee/],
    ] as const;
    for (const [given, code, error, message] of cases) {
      const refused = await scene.command(["show", given, "--json"]);
      expect(refused.code).toBe(code);
      expect(JSON.parse(refused.stdout)).toMatchObject({ success: false, error: { code: error } });
      expect(refused.stderr).toMatch(message);
    }
    copy(twin, "local");
    const ambiguous = await scene.command(["show", taskId.slice(0, 8)]);
    expect(ambiguous.code).toBe(2);
    expect(ambiguous.stderr).toContain(`${taskId}  ${QUERY}`);
    expect(ambiguous.stderr).toContain(`${twin}  ${QUERY}`);
  });
});

describe("a run", () => {
  test("is named by words of its title, as last, or not at all by commands that read; the answer says which (A11)", async (context) => {
    const scene = await openResearch(context, AT_ONCE);
    const none = await scene.command(["show"]);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("There is no run yet.")]);
    const first = await start(scene, "How loud are heat pumps?");
    const second = await start(scene, "Which heat pump is best?");
    await scene.command(["edit", "loud", "--title", "Noise at night"]);
    const shown = async (...args: string[]): Promise<[string, string]> => {
      const { code, stdout, stderr } = await scene.command([...args, "--json"]);
      expect([code, stderr]).toEqual([0, expect.stringMatching(/^(?:Newest run|Run): /)]);
      return [JSON.parse(stdout).task_id, stderr.trim()];
    };
    const newest = `Newest run: “Which heat pump is best?” (${second.slice(0, 8)}, just now)`;
    expect(await shown("show")).toEqual([second, newest]);
    expect(await shown("show", "LAST")).toEqual([second, newest]);
    expect(await shown("watch")).toEqual([second, newest]);
    expect(await shown("show", "noise")).toEqual([first, `Run: “Noise at night” (${first.slice(0, 8)}, just now)`]);
    expect((await shown("show", "best heat"))[0]).toBe(second);
    const saved = await scene.command(["save", "--output-dir", scene.configDir]);
    expect([saved.code, saved.stderr]).toEqual([0, expect.stringContaining(newest)]);
  });

  test("with a name that fits several is not guessed: the candidates are listed (A11)", async (context) => {
    const scene = await openResearch(context, AT_ONCE);
    const ids = [await start(scene, "How loud are heat pumps?"), await start(scene, "Which heat pump is best?")];
    const { code, stdout, stderr } = await scene.command(["delete", "heat", "--yes"]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("2 runs have “heat” in their title.");
    for (const id of ids) expect(stderr).toContain(`\n${id.slice(0, 8)}  `);
    expect(JSON.parse((await scene.command(["list", "--json"])).stdout).runs).toHaveLength(2);
  });
});

test("find searches questions and reports", async (context) => {
  const scene = await openResearch(context, { ...AT_ONCE, report: "# Heat\n\nA zebra crossing in Oslo.\n" });
  const taskId = await start(scene);
  await start(scene, "What is the newest version of Node.js?");
  const found = JSON.parse((await scene.command(["list", "crossing in", "zebra", "cold", "--json"])).stdout);
  expect(found.runs).toMatchObject([{ task_id: taskId, query: QUERY, found: expect.stringContaining("zebra") }]);
  expect(JSON.parse((await scene.command(["list", "in crossing", "--json"])).stdout).runs).toEqual([]);
  expect((await scene.command(["list", "heat", "--limit", "0"])).code).toBe(2);
});

test("costs sums up what was spent, by kind, model and day, as text, JSON and CSV (P6)", async (context) => {
  const scene = await openResearch(context, AT_ONCE);
  const today = new Date().toISOString().slice(0, 10);
  expect((await scene.command(["costs", "--since", today])).stdout).toMatch(
    /^\$0\.00 on \d{4}-\d\d-\d\d \(UTC\), 0 paid requests\n/,
  );
  await start(scene);
  const { code, stdout } = await scene.command(["costs", "--json"]);
  expect(code).toBe(0);
  const costs = JSON.parse(stdout);
  expect(costs).toMatchObject({ success: true, total: { requests: 1 }, kinds: [{ kind: "research", requests: 1 }] });
  expect((await scene.command(["costs"])).stdout).toMatch(
    /^\$1\.\d\d from [\d-]+ to [\d-]+ \(UTC\), 1 paid request[^]*\n\nKIND +REQUESTS +COST\nDeep research +1 +\$1\.\d\d\n\nMODEL +REQUESTS +COST\n.+\n\nDAY +REQUESTS +COST\n/,
  );
  const [head, row, ...more] = (await scene.command(["costs", "--csv"])).stdout.trimEnd().split("\r\n");
  expect(head).toBe("day,owner,kind,model,requests,cost_usd,reserved_usd,cost_incomplete,cost_estimated");
  expect(row).toMatch(/^\d{4}-\d\d-\d\d,local,research,deep-research-preview-04-2026,1,1\.\d+,0,,$/);
  expect(more).toEqual([]);
  expect(JSON.parse((await scene.command(["costs", "--kind", "search", "--json"])).stdout).total.requests).toBe(0);
  for (const wrong of [
    ["--since", "yesterday"],
    ["--kind", "agent"],
  ]) {
    const refused = await scene.command(["costs", ...wrong]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("INVALID_INPUT")]);
  }
});

describe("with --json", () => {
  const answering = commandsOf(createProgram()).filter(({ command }) =>
    command.options.some(({ long }) => long === "--json"),
  );

  test.for(answering.map(({ path }) => path))(
    "%s: a wrong flag is reported as JSON too, exit code 2 (A6)",
    async (path, context) => {
      const { command } = await openScene(context);
      const { code, stdout, stderr } = await command([...path.split(" "), "--no-such-flag", "--json"]);
      expect(code).toBe(2);
      expect(JSON.parse(stdout)).toMatchObject({
        success: false,
        error: {
          code: "INVALID_INPUT",
          message: expect.stringContaining("--no-such-flag"),
          suggestion: expect.any(String),
        },
      });
      expect(stderr).toContain(`Try: gemini-search-mcp ${path} --help`);
    },
  );

  test("a database error is reported as JSON, exit code 1 (A6)", async (context) => {
    const scene = await openScene(context);
    const env = { DEEP_RESEARCH_DB: "/dev/null/nowhere.db" };
    const { code, stdout } = await scene.command(["token", "list", "--json"], { env });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ success: false, error: { code: "SQLITE_ERROR" } });
  });
});

test("a mistyped command or flag gets a suggestion and what to do", async (context) => {
  const scene = await openScene(context);
  const { stderr } = await scene.command(["serch", "x"]);
  expect(stderr).toMatch(/Did you mean search\?\)\nTry: gemini-search-mcp --help/);
  expect((await scene.command(["list", "--limt", "3"])).stderr).toMatch(
    /Did you mean --limit\?\)\nTry: gemini-search-mcp list --help/,
  );
});

test("colours are forced by FORCE_COLOR alone, and --no-color overrides it", async (context) => {
  const scene = await openScene(context);
  const doctor = (args: string[], env = {}) => scene.command(["doctor", "--offline", ...args], { env });
  const green = "\u001B[32mok";
  expect((await doctor([])).stdout).not.toContain("\u001B");
  expect((await doctor([], { FORCE_COLOR: "1" })).stdout).toContain(green);
  expect((await doctor(["--no-color"], { FORCE_COLOR: "1" })).stdout).not.toContain("\u001B");
  expect((await doctor([], { NO_COLOR: "1" })).stdout).not.toContain("\u001B");
});
