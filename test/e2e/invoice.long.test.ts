/**
 * The ledger against the simulator's own bill, to the millionth, over a mix of searches, corrections, rounds, research,
 * plans, follow-ups, tables, judged citations, failures, cut-off searches, cancels and late usage, and over a midnight (UTC) at which the
 * prices of agents and follow-ups double. `INVOICE_RUNS=1000` repeats it for longer.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { chargeUsd } from "../../simulator/prices.ts";
import type { ScenarioInput } from "../../simulator/scenario.ts";
import { openResearch, QUERY, type ResearchScene } from "../kit/server/research.ts";
import { ROOT, type RunningServer } from "../kit/server/server.ts";
import { openSites, storeContradictedRun } from "../kit/sites/contradicted-run.ts";
import { onPostgres } from "../kit/store/databases.ts";
import { waitFor } from "../kit/wait-for.ts";

const RUNS = Number(process.env["INVOICE_RUNS"] ?? 80);
const LANES = 4;

const ENDED = ["completed", "failed", "cancelled", "awaiting_approval"];

async function untilEnded(server: RunningServer, task_id: string): Promise<void> {
  await waitFor(
    async () => expect(ENDED).toContain((await server.call("check_research_status", { task_id })).structured["status"]),
    { timeout: 60_000, interval: 100 },
  );
}

/** Kinds of runs, in turn. */
const KINDS = ["search", "research", "search", "deep", "cut", "plan", "search", "cancel", "followup"] as const;

/** Its client leaves before Google has answered, or while it does. */
async function cutOff(server: RunningServer, query: string): Promise<void> {
  const controller = new AbortController();
  const call = server.call("search", { query }, { signal: controller.signal }).catch(() => undefined);
  setTimeout(() => controller.abort(), CUT_AFTER_MS);
  await call;
}

async function runOne(server: RunningServer, n: number): Promise<void> {
  const kind = KINDS[n % KINDS.length] ?? "search";
  const query = `${QUERY} Number ${n}`;
  if (kind === "search") return void (await server.call("search", { query }));
  if (kind === "cut") return cutOff(server, query);
  if (kind === "deep") return void (await server.call("deep_search", { query, max_iterations: 2 }));
  const started = await server.call("start_deep_research", { query, ...(kind === "plan" ? { plan: true } : {}) });
  const { task_id } = started.structured;
  if (started.structured["success"] !== true) return;
  if (kind === "cancel") return void (await server.call("cancel_research", { task_id }));
  await untilEnded(server, task_id);
  if (kind === "plan") {
    const approved = await server.call("resume_research", { task_id, approve: true });
    return untilEnded(server, approved.structured["task_id"]);
  }
  if (kind !== "followup") return;
  await server.call("ask_followup", { task_id, question: "And in apartments?" });
  await server.call("ask_followup", { task_id, question: "As a table", columns: ["Model", "Noise"] });
}

const CUT_AFTER_MS = 20;
const DAY_MS = 86_400_000;
/** Of a start that arrived within this time of midnight, either price is right. */
const UNSURE_MS = 2_000;
/** How long the server runs before its midnight. */
const BEFORE_MIDNIGHT_MS = 12_000;

/** The clock of the server, and prices that double at its next midnight, which is returned in real time. */
function expectMidnight({ configDir }: ResearchScene): { midnight: number; env: Record<string, string> } {
  const now = Date.now();
  const day = Math.ceil((now + BEFORE_MIDNIGHT_MS) / DAY_MS);
  const dates = [{ until: dateOf(day - 1) }, { from: dateOf(day) }];
  const prices = { input: 2, output: 12, cached: 0.2 };
  const doubled = { input: 4, output: 24, cached: 0.4 };
  const rows = dates.map((date, n) => ({ ...date, ...(n === 0 ? prices : doubled) }));
  const usd_per_task = { min: 0.7, max: 3 };
  const file = {
    models: { "gemini-3.1-pro*": rows },
    agents: { "deep-research*": rows.map((row) => ({ ...row, usd_per_task })) },
  };
  writeFileSync(join(configDir, "prices.json"), JSON.stringify(file));
  const midnight = now + BEFORE_MIDNIGHT_MS;
  const shift = join(configDir, "clock-shift");
  writeFileSync(shift, String(day * DAY_MS - midnight));
  const clock = `--import=${join(ROOT, "test/kit/clock/shifted-clock.ts")}`;
  return { midnight, env: { TEST_CLOCK_SHIFT_FILE: shift, NODE_OPTIONS: clock } };
}

const isBefore = (time: number): boolean => time !== Infinity && Date.now() < time;

const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

/** Each check asks the judge about two claims. */
async function judgeCitations(context: TestContext, scene: ResearchScene): Promise<void> {
  const sites = await openSites(context);
  for (let n = 0; n < RUNS / 40; n += 1)
    await scene.command(["check", await storeContradictedRun(scene)], { env: sites });
}

test(
  "each row is Google's bill to the millionth, with corrections, failures, cancels, late usage and new prices at midnight (P6)",
  { timeout: 900_000 },
  async (context) => {
    const scene = await openResearch(context);
    scene.gemini.setScenario({
      name: "invoice",
      tasks: {
        search: [
          ...["good", "prose", "truncated"].map((answer) => ({ answer })),
          ...["http-503", "http-502", "reset-mid-body"].map((fault) => ({ fault })),
          ...["good", "trailing-comma"].map((answer) => ({ answer })),
        ],
      },
      interactions: {
        speed: 1_000,
        usage_after_ms: 2_000_000,
        create: [{}, { life: { status: "failed" } }, { fault: "http-429" }, {}, { fault: "http-403" }, {}, {}, {}],
      },
    } as ScenarioInput);
    // PostgreSQL's own clock decides there.
    const { midnight, env } = onPostgres ? { midnight: Infinity, env: {} } : expectMidnight(scene);
    const server = await scene.server({ agrees: true, env: { BUDGET_DAY_USD: "off", ...env } });
    let next = 0;
    const lane = async (): Promise<void> => {
      for (let n = (next += 1); n <= RUNS || isBefore(midnight + 2 * UNSURE_MS); n = next += 1) await runOne(server, n);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    // The simulated sites are for the local database.
    if (!onPostgres) await judgeCitations(context, scene);
    const late = `select entry_id, kind from ledger where state = 'reserved' and kind not in ('${[...IN_PROCESS].join("', '")}')`;
    await waitFor(async () => expect(scene.sql(late)).toEqual([]), { timeout: 120_000, interval: 200 });

    const rows = scene.sql<Row>("select entry_id, kind, state, micros, reserved_micros, incomplete from ledger");
    const kinds = new Set(rows.map(({ kind }) => kind));
    const judged = onPostgres ? [] : ["judge"];
    const others = ["plan", "research", "round", "search", "table"];
    expect([...kinds].toSorted()).toEqual(["correction", "followup", ...judged, ...others]);
    const bill = billOfStarts(scene, midnight);
    expect(bill.at.before).toBeGreaterThan(0);
    expect(bill.at.after > 0).toBe(!onPostgres);
    const wrong = rows.filter((row) => !isRight(row, bill.micros.get(row.entry_id)));
    expect(wrong).toEqual([]);
    expect([...bill.micros.keys()].filter((attempt) => rows.every(({ entry_id }) => entry_id !== attempt))).toEqual([]);
    // Each row is rounded up.
    const calls = rows.filter(({ kind }) => IN_PROCESS.has(kind));
    const sumOf = (those: Row[]): number => those.reduce((sum, { micros }) => sum + micros, 0);
    const charged = scene.gemini.ledger.entries().reduce((sum, { costUsd }) => sum + costUsd * 1_000_000, 0);
    const exact = calls.filter(({ state, incomplete }) => state === "settled" && incomplete === 0);
    const states = Object.groupBy(calls, ({ state }) => state);
    const { released = [], reserved = [] } = states;
    process.stderr.write(
      `invoice: ${JSON.stringify({ requests: rows.length, counted: sumOf(rows), exact: exact.length, released: released.length, reserved: reserved.length, ...bill.at })}\n`,
    );
    expect(sumOf(calls)).toBeGreaterThanOrEqual(Math.floor(charged));
    expect(sumOf(exact)).toBeLessThanOrEqual(Math.ceil(charged) + calls.length);
    // Google's own error certainly cost nothing; a gateway's, and a search that was cut off, may have.
    expect(released.length).toBe(scene.gemini.ledger.entries().filter(({ served }) => served === "http-503").length);
    expect(reserved.length).toBeGreaterThan(0);
  },
);

interface Row {
  entry_id: string;
  kind: string;
  state: string;
  micros: number;
  reserved_micros: number;
  incomplete: number;
}

const IN_PROCESS = new Set(["search", "round", "correction", "judge"]);

function isRight({ kind, state, micros, reserved_micros, incomplete }: Row, bills: number[] | undefined): boolean {
  if (IN_PROCESS.has(kind)) {
    if (state === "released") return micros === 0;
    return (state === "settled" && incomplete === 0) || micros >= reserved_micros;
  }
  if (bills === undefined) return state === "released";
  return state === "settled" && bills.some((bill) => micros - bill >= 0 && micros - bill < 1);
}

/** By attempt, in millionths of a US dollar, from the usage that the interactions report. */
function billOfStarts({ gemini }: ResearchScene, midnight: number) {
  const at = { before: 0, after: 0 };
  const bills = gemini.ledger.acceptedStarts().map((start): [string, number[]] => {
    const { usage = {} } = gemini.interaction(start.id) as { usage?: Record<string, unknown> };
    const count = (name: string): number => Number(usage[name] ?? 0);
    const [tool] = (usage["grounding_tool_count"] ?? []) as { count: number }[];
    const tokens = {
      input: count("total_input_tokens") + count("total_tool_use_tokens"),
      cached: count("total_cached_tokens"),
      output: count("total_output_tokens") + count("total_thought_tokens"),
    };
    const model = start.model ?? start.agent;
    const whole = chargeUsd(model, { ...tokens, searches: tool?.count ?? 0 });
    // Searches keep their price.
    const doubled = whole + chargeUsd(model, { ...tokens, searches: 0 });
    const isUnsure = Math.abs(start.at - midnight) < UNSURE_MS;
    if (!isUnsure) at[start.at < midnight ? "before" : "after"] += 1;
    const usds = isUnsure ? [whole, doubled] : [start.at < midnight ? whole : doubled];
    return [start.labels["attempt"] ?? "", usds.map((usd) => Number((usd * 1_000_000).toFixed(3)))];
  });
  return { micros: new Map(bills), at };
}
