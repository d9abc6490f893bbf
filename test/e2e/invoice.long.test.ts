/**
 * The ledger against the simulator's own bill, to the millionth, over a mix of searches, corrections, rounds, research,
 * plans, follow-ups, tables, failures, cancels and late usage. `INVOICE_RUNS=1000` repeats it for longer.
 */

import { expect, test } from "vitest";
import { chargeUsd } from "../../simulator/prices.ts";
import type { ScenarioInput } from "../../simulator/scenario.ts";
import { openResearch, QUERY, type ResearchScene } from "../kit/server/research.ts";
import type { RunningServer } from "../kit/server/server.ts";
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
const KINDS = ["search", "research", "search", "deep", "plan", "search", "cancel", "followup"] as const;

async function runOne(server: RunningServer, n: number): Promise<void> {
  const kind = KINDS[n % KINDS.length] ?? "search";
  const query = `${QUERY} Number ${n}`;
  if (kind === "search") return void (await server.call("search", { query }));
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

test(
  "each settled row is Google's bill to the millionth and the others keep their reservation, with corrections, failures, cancels and late usage (P6)",
  { timeout: 900_000 },
  async (context) => {
    const scene = await openResearch(context);
    scene.gemini.setScenario({
      name: "invoice",
      tasks: { search: ["good", "prose", "truncated", "good", "trailing-comma"].map((answer) => ({ answer })) },
      interactions: {
        speed: 1_000,
        usage_after_ms: 2_000_000,
        create: [{}, { life: { status: "failed" } }, { fault: "http-429" }, {}, { fault: "http-403" }, {}, {}, {}],
      },
    } as ScenarioInput);
    const server = await scene.server({ agrees: true, env: { BUDGET_DAY_USD: "off" } });
    let next = 0;
    const lane = async (): Promise<void> => {
      for (let n = (next += 1); n <= RUNS; n = next += 1) await runOne(server, n);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    const late = `select 1 from ledger as entry join research_tasks as run on run.task_id = entry.task_id
      where entry.state = 'reserved' and run.status not in ('failed', 'cancelled')`;
    await waitFor(async () => expect(scene.sql(late)).toEqual([]), { timeout: 60_000, interval: 200 });

    const rows = scene.sql<Row>("select entry_id, kind, state, micros, reserved_micros from ledger");
    const kinds = new Set(rows.map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual(["correction", "followup", "plan", "research", "round", "search", "table"]);
    const bill = billOfStarts(scene);
    const wrong = rows.filter((row) => !isRight(row, bill.get(row.entry_id)));
    expect(wrong).toEqual([]);
    expect([...bill.keys()].filter((attempt) => rows.every(({ entry_id }) => entry_id !== attempt))).toEqual([]);
    // Each row is rounded up.
    const calls = rows.filter(({ kind }) => IN_PROCESS.has(kind));
    const settled = calls.reduce((sum, { micros }) => sum + micros, 0);
    const charged = scene.gemini.ledger.entries().reduce((sum, { costUsd }) => sum + costUsd * 1_000_000, 0);
    const total = charged + [...bill.values()].reduce((sum, micros) => sum + micros, 0);
    const counted = rows.reduce((sum, { micros }) => sum + micros, 0);
    process.stderr.write(`invoice: ${JSON.stringify({ requests: rows.length, counted, bill: Math.ceil(total) })}\n`);
    expect(settled).toBeGreaterThanOrEqual(Math.floor(charged));
    expect(settled).toBeLessThanOrEqual(Math.ceil(charged) + calls.length);
  },
);

interface Row {
  entry_id: string;
  kind: string;
  state: string;
  micros: number;
  reserved_micros: number;
}

const IN_PROCESS = new Set(["search", "round", "correction"]);

/** The usage of some runs that failed or were cancelled is never collected: they count with their reservation. */
function isRight({ kind, state, micros, reserved_micros: reserved }: Row, bill: number | undefined): boolean {
  if (IN_PROCESS.has(kind)) return state === "settled";
  if (bill === undefined) return state === "released";
  return state === "settled" ? micros - bill >= 0 && micros - bill < 1 : state === "reserved" && micros === reserved;
}

/** By attempt, in millionths of a US dollar, from the usage that the interactions report. */
const billOfStarts = ({ gemini }: ResearchScene): Map<string, number> =>
  new Map(
    gemini.ledger.acceptedStarts().map(({ id, agent, model, labels }) => {
      const { usage = {} } = gemini.interaction(id) as { usage?: Record<string, unknown> };
      const count = (name: string): number => Number(usage[name] ?? 0);
      const [tool] = (usage["grounding_tool_count"] ?? []) as { count: number }[];
      const usd = chargeUsd(model ?? agent, {
        input: count("total_input_tokens") + count("total_tool_use_tokens"),
        cached: count("total_cached_tokens"),
        output: count("total_output_tokens") + count("total_thought_tokens"),
        searches: tool?.count ?? 0,
      });
      return [labels["attempt"] ?? "", Number((usd * 1_000_000).toFixed(3))];
    }),
  );
