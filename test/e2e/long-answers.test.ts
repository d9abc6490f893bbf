/** Long answers and lists at a terminal: the pager, the second name of the program, and starts that are only counted. */

import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { atTerminal, hasDialogues } from "../kit/server/dialogue.ts";
import { openScene } from "../kit/server/scene.ts";
import { openResearch } from "../kit/server/research.ts";
import { BIN } from "../kit/server/server.ts";

const LEFT_OUT = "2 starts that failed and cost nothing: add --status failed";
/** Marks each line that it shows. */
const PAGER = "sed s/^/@/";
const WRITING = "Gemini is writing; the sources follow";
const QUERY = "How do heat pumps perform in cold climates?";

test.skipIf(!hasDialogues)(
  "an answer longer than the window is shown in the user's pager, unless none is wanted (A12)",
  async (context) => {
    const scene = await openScene(context);
    await (await scene.server()).call("deep_search", { query: QUERY });
    const show = (args: string, pager: string) => atTerminal(args, { env: { ...scene.env, PAGER: pager } });
    const paged = await show("show last", PAGER);
    expect([paged.code, paged.seen]).toEqual([0, expect.stringMatching(/^@.*Evidence/m)]);
    for (const [args, pager] of [
      ["show last", "cat"],
      ["show last", ""],
      ["show last", "no-such-pager"],
      ["--no-pager show last", PAGER],
      ["show last --section outline", PAGER],
    ] as const) {
      const { code, seen } = await show(args, pager);
      expect([args, pager, code, seen]).toEqual([args, pager, 0, expect.not.stringMatching(/^@/m)]);
      expect(seen).toContain("Evidence");
    }
  },
);

test.skipIf(!hasDialogues)(
  "a search shows its report at a terminal while Gemini writes it, then the answer with its sources (A13)",
  async (context) => {
    const scene = await openScene(context);
    scene.gemini.setScenario({ name: "slow", tasks: { search: [{ fault: "slow-drip" }] } });
    const { code, seen } = await atTerminal(`--no-pager search ${QUERY}`, { env: scene.env });
    const written = seen.slice(0, seen.lastIndexOf(WRITING) + 1);
    expect([code, written]).toEqual([0, expect.stringContaining("In short:")]);
    expect(written).not.toContain("Sources");
    expect(seen.slice(written.length)).toMatch(/In short:[^]*^Sources/m);
    const plain = await atTerminal(`--no-pager search ${QUERY}`, { env: { ...scene.env, TERM: "dumb" } });
    expect([plain.code, plain.seen]).toEqual([0, expect.not.stringContaining(WRITING)]);
  },
);

test("starts that failed and cost nothing are counted in the list, and shown on request (A12)", async (context) => {
  const scene = await openResearch(context, { create: [{ fault: "http-403" }, { fault: "http-403" }] });
  for (const query of ["One question", "Another one"]) expect((await scene.command(["research", query])).code).toBe(1);
  expect(JSON.parse((await scene.command(["list", "--json"])).stdout)).toMatchObject({ runs: [], left_out: 2 });
  const seen = hasDialogues ? (await atTerminal("list", { env: scene.env })).seen : undefined;
  expect(seen ?? LEFT_OUT).toContain(LEFT_OUT);
  const failed = JSON.parse((await scene.command(["list", "--status", "failed", "--json"])).stdout);
  expect(failed["runs"]).toHaveLength(2);
  expect(failed).not.toHaveProperty("left_out");
});

test("a search that failed before it was sent cost nothing, is counted with them, and is not the last run (A12, T28)", async (context) => {
  const scene = await openScene(context, {
    name: "once",
    tasks: { search: [{}, { fault: "http-403" }, { fault: "http-403" }, { fault: "http-403" }] },
  });
  const found = await scene.command(["search", QUERY, "--json"]);
  expect(found.code).toBe(0);
  expect((await scene.command(["search", "heat pumps in Norway"])).code).toBe(1);
  expect((await scene.command(["search", "heat pumps in Finland"])).code).toBe(1);
  const listed = JSON.parse((await scene.command(["list", "--json"])).stdout);
  expect(listed).toMatchObject({ runs: [{ query: QUERY }], left_out: 2 });
  const failed = JSON.parse((await scene.command(["list", "--status", "failed", "--json"])).stdout);
  expect(failed["runs"]).toMatchObject([{ cost_usd: 0 }, { cost_usd: 0 }]);
  const shown = await scene.command(["show", "last"]);
  expect([shown.code, shown.stderr]).toEqual([0, expect.stringContaining("Newest run: “How do heat pumps")]);
  const saved = await scene.command(["save", "-o", join(scene.configDir, "last.md")]);
  expect([saved.code, saved.stderr]).toEqual([0, expect.stringContaining("Newest run: “How do heat pumps")]);
  // The name fits three runs, of which a person sees one.
  const named = await scene.command(["show", "heat pumps"]);
  expect([named.code, named.stderr]).toEqual([0, expect.stringContaining("Run: “How do heat pumps")]);
  // What failed is what is tried again.
  expect((await scene.command(["retry", "last"])).stderr).not.toContain("How do heat pumps");
});

test("the program has a short name, which its hints then use (A11)", async (context) => {
  const { configDir, env } = await openScene(context);
  const gemsearch = join(configDir, "gemsearch");
  symlinkSync(BIN, gemsearch);
  const called = (...args: string[]) => spawnSync(process.execPath, [gemsearch, ...args], { env, encoding: "utf8" });
  expect(called("--help").stdout).toContain("Usage: gemsearch [options] [command]");
  const { stderr } = called("heat", "pumps");
  expect(stderr).toContain("To ask this question: gemsearch search heat pumps");
  // Of several words the first is a command only if one letter of it is wrong.
  expect(stderr).not.toContain("Did you mean");
});

test("a beginning of an id that is too short says so (A11)", async (context) => {
  const scene = await openScene(context);
  const { code, stderr } = await scene.command(["show", "3f"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("an id needs at least 4 characters")]);
});

test("retry asks a cancelled research again, with its price, and a failed search at once (Q1)", async (context) => {
  const scene = await openResearch(context, { speed: 60, status: "in_progress" });
  const started = JSON.parse((await scene.command(["research", QUERY, "--json"])).stdout);
  expect((await scene.command(["cancel", "last", "--yes"])).code).toBe(0);
  const asked = await scene.command(["retry", "last"]);
  expect([asked.code, asked.stderr]).toEqual([
    1,
    expect.stringMatching(/started again, for about \$\d\.\d\d \(up to \$\d\.\d\d\)\. Nothing was started\.[^]*--yes/),
  ]);
  expect(scene.posts()).toBe(1);
  const again = await scene.command(["retry", "last", "--yes", "--json"]);
  expect(again.code).toBe(0);
  const { task_id, status } = JSON.parse(again.stdout);
  expect([status, task_id === started["task_id"]]).toEqual(["running_async", false]);
  expect(scene.posts()).toBe(2);

  const searches = await openScene(context, { name: "once", tasks: { search: [{ fault: "http-403" }, {}] } });
  expect((await searches.command(["search", QUERY])).code).toBe(1);
  const { code, stdout } = await searches.command(["retry", "last"]);
  expect([code, stdout]).toEqual([0, expect.stringContaining("Evidence")]);
});
