/** Budgets on every surface: many starts, each below the limit for one, are asked about or refused above a sum. */

import { expect, test } from "vitest";
import { askingClient } from "../kit/server/asking-client.ts";
import { openPageServer } from "../kit/browser/page-api.ts";
import { openResearch, QUERY, type ResearchScene, SLOW, startRun, untilStatus } from "../kit/server/research.ts";
import type { RunningServer, ToolResult } from "../kit/server/server.ts";

const START = "start_deep_research";
const perDay = (budget: string) => ({ env: { BUDGET_DAY_USD: budget } });
const NEEDED = { error: { code: "CONFIRMATION_NEEDED" } };
const EXCEEDED = { error: { code: "BUDGET_EXCEEDED" } };

/** What each of the starts here reserves, in US dollars. */
async function maxUsd(server: RunningServer): Promise<number> {
  const { structured } = await server.call("estimate_research_cost", { query: `${QUERY} 1` });
  return structured["estimated_cost"].max_usd;
}

const start = async (server: RunningServer, query: string): Promise<ToolResult["structured"]> =>
  (await server.call(START, { query })).structured;

const usedUsd = ({ sql }: ResearchScene): number =>
  (sql<{ micros: number }>("select sum(micros) as micros from ledger")[0]?.micros ?? 0) / 1_000_000;

test("forty starts at once, from two processes, are sent up to the budget of a day and no further (I13, T28)", async (context) => {
  const scene = await openResearch(context, SLOW);
  // The default.
  const servers = [await scene.server(perDay("20")), await scene.server(perDay("20"))] as const;
  const usd = await maxUsd(servers[0]);
  const sent = Math.floor(20 / usd);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => servers.map((server, at) => start(server, `${QUERY} ${n} ${at}`))).flat(),
  );
  expect(answers.filter(({ success }) => success === true)).toHaveLength(sent);
  expect([scene.posts(), scene.accepted()]).toEqual([sent, sent]);
  expect(usedUsd(scene)).toBeCloseTo(sent * usd);
  for (const { error } of answers.filter(({ success }) => success !== true)) {
    expect(error).toMatchObject({
      code: "CONFIRMATION_NEEDED",
      message: expect.stringMatching(
        /\$1\d\.\d\d of today's budget of \$20 is used or reserved, which renews at \d{4}-/,
      ),
      suggestion: expect.stringMatching(/BUDGET_DAY_USD.*page.*terminal/),
      details: {
        budget: "BUDGET_DAY_USD",
        limit_usd: 20,
        used_usd: expect.closeTo(sent * usd),
        left_usd: expect.closeTo(20 - sent * usd),
        renews_at: expect.stringMatching(/T00:00:00/),
      },
    });
  }
  // Each threshold, of 50, 80 and 95 %, was reached by one of them: the fifth, the eighth and the ninth start of $2.20.
  const notices = answers.flatMap(({ notice }) => (typeof notice === "string" ? [notice] : []));
  const percents = notices.map((notice) =>
    Number(/^With this, (\d+) % of today's budget may be used/.exec(notice)?.[1]),
  );
  expect(percents.toSorted((one, other) => one - other)).toEqual([55, 88, 99]);
});

test("above the soft budget a dialog, --yes and the dashboard confirm a start, and a joined one costs nothing (I13, T28)", async (context) => {
  const scene = await openPageServer(context, SLOW);
  const settings = perDay("4");
  const server = await scene.server(settings);
  await startRun(server, `${QUERY} 1`);
  expect(await start(server, QUERY)).toMatchObject(NEEDED);

  const client = await askingClient(context, scene, { era: "modern", answer: { action: "accept" }, ...settings });
  expect((await client.call({ query: `${QUERY} dialog` })).isError).toBe(false);
  expect(client.dialogs.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /^Start this research for about \$1\.\d\d \(up to \$2\.\d\d\)\? \$2\.\d\d of today's budget of \$4 is used or reserved\.$/,
    ),
  ]);
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

  expect(scene.accepted()).toBe(4);
  // A day later.
  scene.sql("update ledger set day = day - 1");
  await startRun(server);
});

test("above a hard budget nothing is started or searched, whoever agrees; what is running goes on (I13, T28)", async (context) => {
  const scene = await openPageServer(context, SLOW);
  const settings = perDay("3/4");
  const server = await scene.server(settings);
  const task_id = await startRun(server, `${QUERY} 1`);
  const client = await askingClient(context, scene, { era: "modern", answer: { action: "accept" }, ...settings });
  const refused = await client.call({ query: `${QUERY} dialog` });
  expect([refused.isError, client.dialogs]).toEqual([true, []]);
  const command = await scene.command(["research", `${QUERY} terminal`, "--yes", "--json"], settings);
  expect(JSON.parse(command.stdout)).toMatchObject(EXCEEDED);
  const page = await scene.serve(settings.env);
  expect(await page.post("/api/research", { query: `${QUERY} page` })).toMatchObject({ body: EXCEEDED, status: 409 });
  expect(await start(server, `${QUERY} plan`)).toMatchObject({
    error: {
      code: "BUDGET_EXCEEDED",
      message: expect.stringMatching(
        /^\$\d\.\d\d of today's budget of \$4 is used or reserved\. This research may cost/,
      ),
      suggestion: expect.stringMatching(/^It renews at .* 00:00 UTC\..*BUDGET_DAY_USD/),
      details: { limit_usd: 4, left_usd: expect.any(Number) },
    },
  });
  expect(scene.accepted()).toBe(1);
  const { structured: status } = await server.call("check_research_status", { task_id });
  expect(status).toMatchObject({ status: "running_async" });
  const empty = await scene.server(perDay("0/0"));
  expect((await empty.call("search", { query: QUERY })).structured).toMatchObject(EXCEEDED);
});

test("plans, follow-ups and tables count; a start that certainly cost nothing does not (I13, T28)", async (context) => {
  const scene = await openResearch(context, { create: [{ fault: "http-403" }, { fault: "accept-then-reset" }, {}] });
  const server = await scene.server(perDay("4"));
  expect(await start(server, QUERY)).toMatchObject({ status: "failed" });
  const { task_id } = await start(server, QUERY);
  const again = { task_id, accept_possible_double_charge: true };
  expect((await server.call("resume_research", again)).structured).toMatchObject(NEEDED);
  expect([scene.posts(), scene.accepted()]).toEqual([2, 1]);
  const reserved = usedUsd(scene);
  expect(reserved).toBeCloseTo(await maxUsd(server));

  const generous = await scene.server({ ...perDay("50"), agrees: true });
  // Reserved at today's estimate, whatever the first start was expected to cost.
  scene.sql(`update research_tasks set estimate_json = '{"usd":{"min":0.1,"likely":0.2,"max":0.3}}'`);
  const sentAgain = (await generous.call("resume_research", again)).structured["task_id"];
  const ofRestart = `select reserved_micros from ledger where task_id = '${sentAgain}'`;
  expect(scene.sql(ofRestart)).toEqual([{ reserved_micros: Math.round(reserved * 1_000_000) }]);
  await untilStatus(generous, sentAgain, "completed");
  const planned = (await generous.call(START, { query: `${QUERY} 2`, plan: true })).structured;
  await untilStatus(generous, planned["task_id"], "awaiting_approval");
  await expect.poll(() => scene.sql("select 1 from ledger where state = 'reserved'")).toHaveLength(1);
  const spent = usedUsd(scene);
  expect(spent).toBeGreaterThan(reserved);
  const strict = await scene.server(perDay(spent.toFixed(6)));
  const approval = { task_id: planned["task_id"], approve: true };
  expect((await strict.call("resume_research", approval)).structured).toMatchObject(NEEDED);
  const followup = { task_id, question: "And in apartments?" };
  expect((await strict.call("ask_followup", followup)).structured).toMatchObject(NEEDED);
  const table = { ...followup, columns: ["Model", "Noise"] };
  expect((await strict.call("ask_followup", table)).structured).toMatchObject(NEEDED);
  expect(scene.accepted()).toBe(3);
  expect((await generous.call("ask_followup", followup)).structured).toMatchObject({ success: true });
  expect(usedUsd(scene)).toBeGreaterThan(spent);
});

test("a run above the hard limit of one run is refused, and a deep search keeps what it has when it reaches it (I13, T28)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const perRun = (limit: string) => scene.server({ agrees: true, env: { RESEARCH_CONFIRM_ABOVE_USD: limit } });
  expect(await start(await perRun("1/2"), QUERY)).toMatchObject({
    error: {
      code: "BUDGET_EXCEEDED",
      message: expect.stringMatching(
        /^The limit of a run is \$2\. This research may cost up to \$2\.\d\d\. Nothing was started or charged\.$/,
      ),
      details: { budget: "RESEARCH_CONFIRM_ABOVE_USD", limit_usd: 2, max_usd: expect.any(Number) },
    },
  });
  expect([scene.posts(), scene.sql("select 1 from ledger")]).toEqual([0, []]);
  // Room for one request at its highest cost, and not for a second one.
  const tight = await perRun("0.1/0.27");
  const { structured: found } = await tight.call("deep_search", { query: QUERY, max_iterations: 4 });
  expect(found).toMatchObject({
    success: true,
    verified: false,
    note: expect.stringMatching(
      /It ended after round 1: The limit of a run is \$0\.27\. \$0\.\d\d of it is used or reserved\. This request may cost up to \$0\.26\. It was not sent\./,
    ),
    metadata: { iterations: 1 },
  });
  expect(scene.sql("select state, kind from ledger order by state")).toEqual([
    { state: "released", kind: "round" },
    { state: "settled", kind: "round" },
  ]);
});

test("a restart without a price today is refused by a hard limit at the estimate of its first start (I13, T28)", async (context) => {
  const scene = await openResearch(context, { create: [{ fault: "accept-then-reset" }, {}] });
  const server = await scene.server({ ...perDay("3/4"), agrees: true });
  const { task_id } = await start(server, QUERY);
  // An agent that no price list names.
  scene.sql("update research_tasks set model = 'an-agent'");
  const again = { task_id, accept_possible_double_charge: true };
  expect((await server.call("resume_research", again)).structured).toMatchObject({
    error: { ...EXCEEDED.error, details: { max_usd: expect.closeTo(usedUsd(scene)) } },
  });
  expect(scene.posts()).toBe(1);
});

test("an unlisted agent reserves what the most expensive one of its family may cost; one without any price passes no hard limit (I13, P6, T28)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server({ ...perDay("50/60"), agrees: true });
  const of = (model: string) => ({ query: `${QUERY} 1`, model });
  const expected = async (model: string) => (await server.call("estimate_research_cost", of(model))).structured;
  const listed = await expected("deep-research-max-preview-04-2026");
  const unlisted = await expected("deep-research-next");
  expect(unlisted["estimated_cost"]).toEqual(listed["estimated_cost"]);
  expect(unlisted["recommendation"]).toContain("There is no price of deep-research-next: the highest of its family");
  await server.call(START, of("deep-research-next"));
  const micros = listed["estimated_cost"].max_usd * 1_000_000;
  expect(scene.sql("select model, reserved_micros from ledger")).toEqual([
    { model: "deep-research-next", reserved_micros: micros },
  ]);
  expect(await expected("deep-thought-42")).toMatchObject({ error: { code: "INVALID_INPUT" } });
  expect((await server.call(START, of("deep-thought-42"))).structured).toMatchObject({
    error: {
      code: "BUDGET_EXCEEDED",
      message:
        "There is no price for deep-thought-42, so it cannot be checked against the hard limit on costs. Nothing was started or charged.",
      suggestion: expect.stringContaining("prices.json"),
    },
  });
  expect([scene.posts(), scene.sql("select 1 from ledger")]).toMatchObject([1, [{}]]);
});
