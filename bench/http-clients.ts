/** Calls over HTTP by 1, 16 and 64 official clients at once, against one `serve`. */

import { startHttpServer } from "../test/kit/server/http-server.ts";
import type { Table } from "./report.ts";
import { tailOf } from "./statistics.ts";

const COUNTS = [1, 16, 64] as const;
const CALLS = 1_920;
const WARM_UP_CALLS = 200;

interface Sample {
  clients: number;
  perSecond: number;
  p50: number;
  p99: number;
}

export async function httpClients(): Promise<Table> {
  const server = await startHttpServer({ env: { MCP_RATE_LIMIT_PER_MINUTE: "0" } });
  try {
    const clients = [];
    for (let n = 0; n < Math.max(...COUNTS); n += 1) clients.push(await server.connect("modern"));
    const [first] = clients;
    for (let n = 0; n < WARM_UP_CALLS; n += 1) await first?.call("list_research", {});
    const samples: Sample[] = [];
    for (const count of COUNTS) {
      const times: number[] = [];
      const begun = performance.now();
      const work = clients.slice(0, count).map(async ({ call }) => {
        for (let n = 0; n < CALLS / count; n += 1) {
          const started = performance.now();
          await call("list_research", {});
          times.push(performance.now() - started);
        }
      });
      await Promise.all(work);
      const { p50, p99 } = tailOf(times);
      samples.push({ clients: count, perSecond: (times.length * 1_000) / (performance.now() - begun), p50, p99 });
    }
    return tableOf(samples);
  } finally {
    await server.close();
  }
}

function tableOf(samples: readonly Sample[]): Table {
  const alone = samples[0]?.perSecond ?? 1;
  return {
    title: "HTTP at 1, 16 and 64 clients",
    columns: ["clients", "calls per second", "÷ one client", "p50, ms", "p99, ms"],
    rows: samples.map(({ clients, perSecond, p50, p99 }) => [
      String(clients),
      perSecond.toFixed(0),
      (perSecond / alone).toFixed(2),
      p50.toFixed(1),
      p99.toFixed(1),
    ]),
    notes: [
      `${CALLS.toLocaleString("en")} calls of \`list_research\` each, by official clients of the 2026 era in one process, which shares the processor with the server: the clients take most of it.`,
    ],
    // A collapse under load would lower it; the machine does not.
    figures: [{ what: "one client's rate ÷ that of 64", value: alone / (samples.at(-1)?.perSecond ?? 1), limit: 1.5 }],
    passed: true,
  };
}
