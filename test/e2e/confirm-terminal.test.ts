/** The user's word at the terminal: a question where somebody can answer, a refusal where nobody can, `--yes` for scripts. */

import { expect, test } from "vitest";
import { openResearch, QUERY, SLOW } from "../support/research.ts";

const env = { RESEARCH_CONFIRM_ABOVE_USD: "1.5" };
const START = ["start-deep-research", QUERY, "--json"];

test("a script is refused with exit code 1, whatever its stdin says; --yes starts", async (context) => {
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

test("a cheap start asks nothing, an invalid one is a usage error, and only paid commands know --yes", async (context) => {
  const scene = await openResearch(context, SLOW);
  expect((await scene.command(START)).code).toBe(0);
  expect(scene.posts()).toBe(1);
  const invalid = await scene.command(["start-deep-research", "x"], { env });
  expect([invalid.code, invalid.stderr]).toEqual([2, expect.stringContaining("INVALID_QUERY")]);
  expect((await scene.command(["search", QUERY, "--yes"])).code).toBe(2);
});
