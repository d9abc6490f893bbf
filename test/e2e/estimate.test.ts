/** The cost estimate of a deep research before it is started. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { missingFromText } from "../kit/server/answer-leaves.ts";
import { openResearch, SLOW, startRun, untilStatus } from "../kit/server/research.ts";
import { openScene } from "../kit/server/scene.ts";

const COMPLEX =
  "Compare the EV battery market in China, the US and Europe from 2015 to 2025: technology trends, market share of each manufacturer, and regulatory outlook.";

const MAX = "deep-research-max-preview-04-2026";

describe("estimate_research_cost", () => {
  test("answers in exactly this shape, without a key and without any request (M1, A3)", async (context) => {
    const scene = await openScene(context);
    const server = await scene.server({ env: { GEMINI_API_KEY: "" } });
    const { isError, structured, text } = await server.call("estimate_research_cost", { query: COMPLEX });
    expect(isError).toBe(false);
    expect(structured).toEqual({
      success: true,
      query_complexity: "complex",
      estimated_duration: { min_minutes: 4, max_minutes: 27, likely_minutes: 10 },
      estimated_cost: { min_usd: 0.93, max_usd: 4, likely_usd: 1.9 },
      will_likely_go_async: true,
      recommendation: expect.stringContaining("almost certainly run in the background"),
      based_on_runs: 0,
      prices_as_of: "2026-11-15",
      model: "deep-research-preview-04-2026",
    });
    expect(missingFromText(text, structured)).toEqual([]);
    expect(text).toMatch(
      /^About \$1\.90 \(from \$0\.93 to \$4\), in about 10 min \(from 4 to 27\)\.\n\nComplex query: /,
    );
    expect(text).not.toContain("{");
    expect(scene.gemini.ledger.count()).toBe(0);
  });

  test("states whole minutes, whatever the user's own runs took (M1)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server();
    await server.call("list_research", {});
    // Older ones would be deleted meanwhile.
    const day = Date.now() - 86_400_000;
    scene.sql(
      `insert into research_tasks (task_id, owner, kind, query, status, model, created_at, started_at, completed_at, updated_at)
       with recursive n(i) as (select 1 union all select i + 1 from n where i < 40)
       select printf('00000000-0000-4000-8000-%012d', i), 'local', 'agent', 'Heat pumps', 'completed',
         'deep-research-preview-04-2026', ${day} + i, ${day} + i, ${day} + i + 125400, ${day} + i from n`,
    );
    // Runs without a row of their own in the ledger were imported, and are no basis.
    scene.sql(
      `insert into ledger (entry_id, task_id, owner, kind, state, day, created_at, reserved_micros, micros)
       select task_id, task_id, owner, 'research', 'settled', ${Math.floor(day / 86_400_000)}, created_at, 0, 0
       from research_tasks`,
    );
    const { structured, text } = await server.call("estimate_research_cost", { query: "Heat pumps" });
    expect(structured).toMatchObject({ based_on_runs: 40, estimated_duration: { likely_minutes: 2 } });
    expect(Object.values(structured["estimated_duration"]).every(Number.isInteger)).toBe(true);
    expect(text).toContain("in about 2 min (from 2 to 3).\n");
    expect(text).toContain("run in the background (about 2 minutes)");
  });

  test("reaches what the largest recorded run of Max cost, most of whose input was not cached (M2)", async (context) => {
    const usage = {
      total_input_tokens: 3_090_514,
      total_cached_tokens: 731_136,
      total_tool_use_tokens: 1_554_067,
      total_output_tokens: 94_180,
      total_thought_tokens: 115_244,
      grounding_tool_count: [],
    };
    const scene = await openResearch(context, { usage });
    const server = await scene.server({ env: { RESEARCH_CONFIRM_ABOVE_USD: "100" } });
    const model = MAX;
    const { structured } = await server.call("estimate_research_cost", { query: COMPLEX, model });
    const task_id = await startRun(server, COMPLEX, { model });
    const { cost_so_far: cost } = await untilStatus(server, task_id, "completed");
    expect(cost).toBeCloseTo(10.49, 2);
    expect(structured["estimated_cost"].max_usd).toBeGreaterThanOrEqual(cost);
  });

  test("estimates for the agent that would be used, and says so if it is another than requested (M1, I2)", async (context) => {
    const server = await (await openScene(context)).server();
    const max = { query: COMPLEX, model: MAX };
    expect((await server.call("estimate_research_cost", max)).structured["estimated_cost"].max_usd).toBe(14);
    const retired = { query: COMPLEX, model: "deep-research-pro-preview-12-2025" };
    const { structured } = await server.call("estimate_research_cost", retired);
    expect(structured["model"]).toBe("deep-research-preview-04-2026");
    expect(structured["notice"]).toContain("deep-research-pro-preview-12-2025");
    for (const model of ["gemini-3.8-flash", "another-agent", "constructor", "__proto__"]) {
      const unknown = await server.call("estimate_research_cost", { query: COMPLEX, model });
      expect(unknown.structured["error"]).toMatchObject({ code: "INVALID_INPUT", details: { field: "model" } });
    }
    const empty = await server.call("estimate_research_cost", { query: " " });
    expect(empty.structured["error"]).toMatchObject({ code: "INVALID_QUERY", details: { status: 400 } });
  });

  test("--max names the thorough agent, with its price in the question (M1, I13)", async (context) => {
    const scene = await openResearch(context);
    const estimated = JSON.parse((await scene.command(["estimate", COMPLEX, "--max", "--json"])).stdout);
    expect(estimated).toMatchObject({ model: MAX, estimated_cost: { max_usd: 14 } });
    const refused = await scene.command(["research", COMPLEX, "--max", "--json"]);
    expect(JSON.parse(refused.stdout).error).toMatchObject({
      code: "CONFIRMATION_NEEDED",
      message: expect.stringContaining("$7.50"),
    });
    const started = await scene.command(["research", COMPLEX, "--max", "--yes", "--json"]);
    expect(started.code).toBe(0);
    expect(scene.sql("select model from research_tasks")).toEqual([{ model: MAX }]);
    expect((await scene.command(["estimate", COMPLEX, "--max", "--model", MAX])).code).toBe(2);
  });

  test("uses the user's own prices, and names a price file it cannot use (M2)", async (context) => {
    const scene = await openScene(context);
    const file = join(scene.configDir, "prices.json");
    const own = { as_of: "2027-01-01", agents: { "deep-research-2031": { usd_per_task: { min: 15, max: 15 } } } };
    writeFileSync(file, JSON.stringify(own));
    const args = ["estimate", COMPLEX, "--model", "deep-research-2031", "--json"];
    const good = await scene.command(args);
    expect(JSON.parse(good.stdout)).toMatchObject({
      estimated_cost: { max_usd: 20 },
      prices_as_of: "2027-01-01",
      model: "deep-research-2031",
    });
    writeFileSync(file, "{");
    const bad = await scene.command(["estimate", COMPLEX, "--json"]);
    expect(JSON.parse(bad.stdout)["prices_as_of"]).toBe("2026-11-15");
    expect(bad.stderr).toContain("[WARN]");
    expect(bad.stderr).toContain(file);
  });
});
