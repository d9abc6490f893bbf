/** Confirmation at the terminal: a question if a user can answer, otherwise a refusal, and `--yes` for scripts. */

import { expect, test } from "vitest";
import { openResearch, QUERY, SLOW, startRun, untilStatus } from "../kit/server/research.ts";
import { openUserTerminal, terminals } from "../kit/server/terminal.ts";

const READY = (await terminals()) === "ready";

const env = { RESEARCH_CONFIRM_ABOVE_USD: "1" };
const START = ["research", QUERY, "--json"];

test("a script is refused with exit code 1, whatever is on its stdin; --yes starts (T28)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const refused = await scene.command(START, { env, stdin: "y\n" });
  expect(refused.code).toBe(1);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    success: false,
    error: { code: "CONFIRMATION_NEEDED", details: { estimated_cost_usd: 1.1, limit_usd: 1 } },
  });
  expect(refused.stderr).toContain("--yes");
  expect(scene.posts()).toBe(0);
  const started = await scene.command([...START, "--yes"], { env });
  expect(started.code).toBe(0);
  expect(JSON.parse(started.stdout)).toMatchObject({ success: true, status: "running_async" });
  expect(scene.posts()).toBe(1);
});

test("a cheap start asks nothing, an invalid one is a usage error, and only paid commands accept --yes", async (context) => {
  const scene = await openResearch(context, SLOW);
  expect((await scene.command(START)).code).toBe(0);
  expect(scene.posts()).toBe(1);
  const invalid = await scene.command(["research", "?!"], { env });
  expect([invalid.code, invalid.stderr]).toEqual([2, expect.stringContaining("INVALID_QUERY")]);
  expect((await scene.command(["search", QUERY, "--yes"])).code).toBe(2);
});

test.skipIf(!READY)(
  "a vague question is asked about once at the terminal, and never in a script (V7)",
  async (context) => {
    const scene = await openResearch(context, SLOW);
    expect((await scene.command(["research", "AI"])).code).toBe(0);
    const terminal = await openUserTerminal(context, scene.env, { columns: 120, rows: 40 });
    const started = (): string[] => scene.gemini.ledger.acceptedStarts().map(({ query }) => query);
    await terminal.type('clear; gemini-search-mcp research the economy --no-wait; echo "first: $?"');
    await terminal.until(/What should it focus on\? \(about \$\d\.\d\d\)\s+Enter: as asked · n: don't start\s+>\s*$/);
    expect(started()).toEqual(["AI"]);
    await terminal.type("of Norway");
    await terminal.until(/^first: 0$/m);
    await terminal.type('clear; gemini-search-mcp research the weather --no-wait; echo "second: $?"');
    await terminal.until(/>\s*$/);
    await terminal.key("Enter");
    await terminal.until(/^second: 0$/m);
    // The same vague question joins the run that was made more precise.
    await terminal.type('clear; gemini-search-mcp research the economy --no-wait; echo "third: $?"');
    await terminal.until(/^third: 0$/m);
    // No limit was mentioned, so neither is one in the answer to a question that is closed.
    for (const key of ["C-d", "C-c"]) {
      await terminal.type(`clear; gemini-search-mcp research the climate --no-wait; echo "${key}: $?"`);
      await terminal.until(/>\s*$/);
      await terminal.key(key);
      const left = await terminal.until(/Cancelled\. Nothing was started or charged\./);
      expect(left).not.toContain("RESEARCH_CONFIRM_ABOVE_USD");
    }
    for (const word of ["n", "Later"]) {
      await terminal.type(`clear; gemini-search-mcp research the climate --no-wait; echo "${word}: $?"`);
      await terminal.until(/>\s*$/);
      await terminal.type(word);
      const left = await terminal.until(new RegExp(`^${word}: 1$`, "m"));
      expect(left).toContain("Cancelled. Nothing was started or charged.");
    }
    expect(started()).toEqual(["AI", "the economy\n\nWhat is meant: of Norway", "the weather"]);
  },
);

test.skipIf(!READY)(
  "a plan is approved with y, asked about again after any other word, and left with a date (V2)",
  async (context) => {
    const scene = await openResearch(context);
    const terminal = await openUserTerminal(context, scene.env, { columns: 120, rows: 60 });
    const paid = (): number => scene.accepted();
    const asked = /\[approve \/ edit \/ later\]\s*$/;
    await terminal.type(`gemini-search-mcp research --plan "${QUERY}"; echo "first: $?"`);
    await terminal.until(asked);
    await terminal.type("sure");
    await terminal.until(/Please answer approve, edit or later\.\s+Start this research.*later\]\s*$/);
    await terminal.type("no");
    const left = await terminal.until(/^first: 0$/m);
    expect(left).toMatch(/Not started\. The plan waits until \d+ \w{3} \d{4}, \d\d:\d\d\. To start it:/);
    expect(paid()).toBe(1);
    const [run] = scene.sql<{ task_id: string }>("select task_id from research_tasks");
    await terminal.type(`clear; gemini-search-mcp plan ${run?.task_id.slice(0, 8)}; echo "second: $?"`);
    await terminal.until(asked);
    await terminal.type("y");
    await terminal.until(/^second: 0$/m);
    expect(paid()).toBe(2);
  },
);

test.skipIf(!READY)(
  "cancel asks before paid research is lost, in a script it needs --yes, and its earlier name stop does not (L3)",
  async (context) => {
    const scene = await openResearch(context, SLOW);
    const start = async (query: string): Promise<string> =>
      JSON.parse((await scene.command(["research", query, "--json"])).stdout).task_id;
    const taskId = await start(QUERY);
    const status = (): unknown =>
      scene.sql<{ status: string }>("select status from research_tasks where task_id = ?", taskId)[0]?.status;
    const terminal = await openUserTerminal(context, scene.env, { columns: 100, rows: 40 });
    const command = `clear; gemini-search-mcp cancel ${taskId.slice(0, 8)}`;
    const question = /Cancel research [0-9a-f]{8} "How do[^"]+"\?\nYou pay what it has cost so far[^?]*\[y\/N\]\s*$/;
    await terminal.type(`${command}; echo "no: $?"`);
    expect(await terminal.until(question)).toContain("(about $1.10 at its end) and get no report.");
    await terminal.key("Enter");
    expect(await terminal.until(/^no: 1$/m)).toContain("Not cancelled. The research continues.");
    expect(status()).toBe("running_async");
    await terminal.type(`${command}; echo "yes: $?"`);
    await terminal.until(question);
    await terminal.type("yes");
    expect(await terminal.until(/^yes: 0$/m)).toContain("The run is cancelled.");
    const resumed = await scene.command(["retry", taskId]);
    expect(resumed.code).toBe(1);
    expect(resumed.stderr).toMatch(
      /^CONFIRMATION_NEEDED: The research has to be started again, for about \$1\.10 \(up to \$2\.20\)\. Nothing was started\.\nAdd --yes/,
    );
    scene.play({ create: [{ fault: "accept-then-reset" }] });
    const { task_id: unknown } = JSON.parse(
      (await scene.command(["research", "Are heat pumps safe?", "--json"])).stdout,
    );
    await terminal.type(`clear; gemini-search-mcp cancel ${unknown.slice(0, 8)}; echo "unknown: $?"`);
    await terminal.until(/Google may have started it \(about \$\d\.\d\d at its end\)[^?]*\[y\/N\]\s*$/);
    await terminal.key("Enter");
    expect(await terminal.until(/^unknown: 1$/m)).toContain("Not cancelled. The run is unchanged.");
    scene.play(SLOW);
    const third = await start("How long do heat pumps last?");
    const refused = await scene.command(["cancel", third, "--json"]);
    expect([refused.code, JSON.parse(refused.stdout).error.code]).toEqual([1, "CONFIRMATION_NEEDED"]);
    expect(refused.stderr).toContain("You pay what it has cost so far (about $1.10 at its end) and get no report.");
    const agreed = await scene.command(["cancel", third, "--yes", "--json"]);
    expect([agreed.code, JSON.parse(agreed.stdout).status]).toEqual([0, "cancelled"]);
    const other = await scene.command(["stop", await start("How loud are heat pumps?"), "--json"]);
    expect([other.code, JSON.parse(other.stdout).status]).toEqual([0, "cancelled"]);
  },
);

test.skipIf(!READY)("delete asks at the terminal: only a typed yes deletes (T-2)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server();
  const taskId = await startRun(server);
  await untilStatus(server, taskId, "completed");
  const stored = (): number => scene.sql("select 1 from research_tasks where task_id = ?", taskId).length;
  const deletions = (): number => scene.gemini.ledger.entries().filter(({ method }) => method === "DELETE").length;
  const terminal = await openUserTerminal(context, scene.env, { columns: 120, rows: 40 });
  const command = `clear; gemini-search-mcp delete ${taskId.slice(0, 8)}`;
  const asked = (where: string): RegExp =>
    new RegExp(`Delete run ${taskId.slice(0, 8)} "[^"]+"\\s+permanently${where}\\? \\[y/N\\]\\s*$`);
  for (const [index, key] of ["Enter", "n", "C-d"].entries()) {
    await terminal.type(`${command}; echo "no ${index}: $?"`);
    await terminal.until(asked(""));
    await terminal.key(key);
    if (key === "n") await terminal.key("Enter");
    expect(await terminal.until(new RegExp(`^no ${index}: 1$`, "m"))).toContain("Nothing was deleted.");
    expect(stored()).toBe(1);
  }
  await terminal.type(`${command} --at-google; echo "yes: $?"`);
  await terminal.until(asked(", here and at Google"));
  expect(deletions()).toBe(0);
  await terminal.type("y");
  expect(await terminal.until(/^yes: 0$/m)).toContain("The run is deleted, here and at Google.");
  expect([stored(), deletions()]).toEqual([0, 1]);
});
