/** Many starts, each below the limit for one: above a sum per day the user is asked, on every surface. */

import { expect, test } from "vitest";
import { askingClient } from "../kit/server/asking-client.ts";
import { openPageServer } from "../kit/browser/page-api.ts";
import { openResearch, QUERY, type ResearchScene, SLOW, startRun, untilStatus } from "../kit/server/research.ts";
import type { RunningServer, ToolResult } from "../kit/server/server.ts";

const START = "start_deep_research";
const perDay = (usd: number) => ({ env: { RESEARCH_CONFIRM_ABOVE_USD_PER_DAY: String(usd) } });
const NEEDED = { error: { code: "CONFIRMATION_NEEDED" } };

/** The likely cost of each of the starts here, in US dollars. */
async function likelyUsd(server: RunningServer): Promise<number> {
  const { structured } = await server.call("estimate_research_cost", { query: `${QUERY} 1` });
  return structured["estimated_cost"].likely_usd;
}

const start = async (server: RunningServer, query: string): Promise<ToolResult["structured"]> =>
  (await server.call(START, { query })).structured;

test("forty starts at once, from two processes, are sent up to the sum of a day and no further (I13, T28)", async (context) => {
  const scene = await openResearch(context, SLOW);
  // The default.
  const servers = [await scene.server(perDay(20)), await scene.server(perDay(20))] as const;
  const usd = await likelyUsd(servers[0]);
  const sent = Math.floor(20 / usd);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => servers.map((server, at) => start(server, `${QUERY} ${n} ${at}`))).flat(),
  );
  expect(answers.filter(({ success }) => success === true)).toHaveLength(sent);
  expect([scene.posts(), scene.accepted()]).toEqual([sent, sent]);
  for (const { error } of answers.filter(({ success }) => success !== true)) {
    expect(error).toMatchObject({
      code: "CONFIRMATION_NEEDED",
      message: expect.stringMatching(/about \$1\d\.\d\d was started without a confirmation.* your limit of \$20\./),
      suggestion: expect.stringMatching(/RESEARCH_CONFIRM_ABOVE_USD_PER_DAY.*dashboard.*terminal/),
      details: { estimated_cost_usd: usd, unconfirmed_usd: expect.closeTo(sent * usd), limit_usd: 20 },
    });
  }
});

test("above the sum a dialog, --yes and the dashboard confirm a start, which then does not count (I13, T28)", async (context) => {
  const scene = await openPageServer(context, SLOW);
  const settings = perDay(4);
  const server = await scene.server(settings);
  for (const n of [1, 2]) await startRun(server, `${QUERY} ${n}`);
  expect(await start(server, QUERY)).toMatchObject(NEEDED);

  const client = await askingClient(context, scene, { era: "modern", answer: { action: "accept" }, ...settings });
  expect((await client.call({ query: `${QUERY} dialog` })).isError).toBe(false);
  expect(client.dialogs.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /^Start this research for about \$1\.\d\d \(up to \$2\.\d\d\)\? \$3\.\d\d was started without a confirmation in 24 hours; your limit is \$4\.$/,
    ),
  ]);
  // It joins a run, which costs nothing.
  expect(await start(server, `${QUERY} dialog`)).toMatchObject({ joined: true });

  const command = ["research", `${QUERY} terminal`, "--json"];
  const refused = await scene.command(command, settings);
  expect(JSON.parse(refused.stdout)).toMatchObject({ error: { ...NEEDED.error, details: { limit_usd: 4 } } });
  expect(JSON.parse((await scene.command([...command, "--yes"], settings)).stdout)).toMatchObject({ success: true });

  const page = await scene.serve(settings.env);
  const query = `${QUERY} page`;
  expect(await page.post("/api/research", { query })).toMatchObject({ body: NEEDED });
  const { subject } = (await page.post("/api/estimate", { query })).body.question;
  expect((await page.post("/api/research", { query, agreed: subject })).status).toBe(200);

  expect(scene.accepted()).toBe(5);
  const { unconfirmed_usd } = (await start(server, QUERY))["error"].details;
  expect(unconfirmed_usd).toBeCloseTo(2 * (await likelyUsd(server)));
  // A day later.
  scene.sql("update research_attempts set created_at = created_at - 86400000");
  await startRun(server);
});

test("plans and follow-ups count; a start that certainly cost nothing and a confirmed restart do not (I13, T28)", async (context) => {
  const scene = await openResearch(context, { create: [{ fault: "http-403" }, { fault: "accept-then-reset" }, {}] });
  const server = await scene.server(perDay(2));
  expect(await start(server, QUERY)).toMatchObject({ status: "failed" });
  const { task_id } = await start(server, QUERY);
  const again = { task_id, accept_possible_double_charge: true };
  expect((await server.call("resume_research", again)).structured).toMatchObject(NEEDED);
  expect([scene.posts(), scene.accepted()]).toEqual([2, 1]);

  const generous = await scene.server({ ...perDay(5), agrees: true });
  await untilStatus(generous, (await generous.call("resume_research", again)).structured["task_id"], "completed");
  const planned = (await generous.call(START, { query: `${QUERY} 2`, plan: true })).structured;
  await untilStatus(generous, planned["task_id"], "awaiting_approval");
  const spent = await unconfirmedUsd(scene);
  const likely = await likelyUsd(generous);
  expect([spent > likely, spent < 2 * likely]).toEqual([true, true]);
  const strict = await scene.server(perDay(spent));
  const approval = { task_id: planned["task_id"], approve: true };
  expect((await strict.call("resume_research", approval)).structured).toMatchObject(NEEDED);
  const followup = { task_id, question: "And in apartments?" };
  expect((await strict.call("ask_followup", followup)).structured).toMatchObject(NEEDED);
  const table = { ...followup, columns: ["Model", "Noise"] };
  expect((await strict.call("ask_followup", table)).structured).toMatchObject(NEEDED);
  expect(scene.accepted()).toBe(3);
  expect((await generous.call("ask_followup", followup)).structured).toMatchObject({ success: true });
  expect(await unconfirmedUsd(scene)).toBeGreaterThan(spent);
});

async function unconfirmedUsd(scene: ResearchScene): Promise<number> {
  const sum = "select sum(unconfirmed_usd) as usd from research_attempts where state <> 'refused'";
  return scene.sql<{ usd: number }>(sum)[0]?.usd ?? 0;
}
