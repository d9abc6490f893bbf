/** Confirmation at the terminal: a question if a user can answer, otherwise a refusal, and `--yes` for scripts. */

import { expect, test } from "vitest";
import { openResearch, QUERY, SLOW, startRun, untilStatus } from "../kit/server/research.ts";
import { openUserTerminal, terminals } from "../kit/server/terminal.ts";

const READY = (await terminals()) === "ready";

const env = { RESEARCH_CONFIRM_ABOVE_USD: "1.5" };
const START = ["start-deep-research", QUERY, "--json"];

test("a script is refused with exit code 1, whatever is on its stdin; --yes starts (T28)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const refused = await scene.command(START, { env, stdin: "y\n" });
  expect(refused.code).toBe(1);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    success: false,
    error: { code: "CONFIRMATION_NEEDED", details: { estimated_cost_usd: 1.54, limit_usd: 1.5 } },
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
  const invalid = await scene.command(["start-deep-research", "?!"], { env });
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
    await terminal.until(/purpose\? \(Enter: start it as it is\)\s+>\s*$/);
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
    // Nothing was said about a cost, so neither does the answer to Ctrl-C.
    await terminal.type('clear; gemini-search-mcp research the climate --no-wait; echo "fourth: $?"');
    await terminal.until(/>\s*$/);
    await terminal.key("C-c");
    const left = await terminal.until(/Cancelled\. Nothing was started or charged\./);
    expect(left).not.toContain("RESEARCH_CONFIRM_ABOVE_USD");
    expect(started()).toEqual(["AI", "the economy\n\nWhat is meant: of Norway", "the weather"]);
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
