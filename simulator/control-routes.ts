/** Control API for tests in other processes: read the ledger, change the scenario, skip time. */

import type { AcceptedStart } from "./interactions/ledger.ts";
import type { Call, Route, SimulatorContext } from "./route.ts";

function send(call: Call, status: number, body: unknown): void {
  call.response.writeHead(status, { "content-type": "application/json" });
  call.response.end(JSON.stringify(body));
}

function withCounts(start: AcceptedStart, { ledger }: SimulatorContext): object {
  const counts = Object.entries(ledger.trafficOf(start.id)).map(([kind, times]) => [kind, times.length]);
  return { ...start, ...Object.fromEntries(counts) };
}

export const CONTROL_ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: /^\/__simulator\/ledger$/,
    handle: (call, { ledger }) =>
      send(call, 200, {
        entries: ledger.entries(),
        count_by_kind: ledger.countByKind(),
        total_bytes: ledger.totalBytes(),
      }),
  },
  {
    // `?from=100` skips the first hundred, for clients that poll.
    method: "GET",
    path: /^\/__simulator\/starts$/,
    handle(call, context) {
      const all = context.ledger.acceptedStarts();
      const from = Number(call.url.searchParams.get("from") ?? 0);
      const starts = all.slice(from).map((start) => withCounts(start, context));
      send(call, 200, { count: all.length, starts, requests: context.ledger.interactionRequests() });
    },
  },
  {
    method: "GET",
    path: /^\/__simulator\/traffic\/([^/]+)$/,
    handle: (call, { ledger }, [, id = ""]) => send(call, 200, ledger.trafficOf(id)),
  },
  {
    method: "POST",
    path: /^\/__simulator\/skip$/,
    handle(call, { runs }) {
      const ms = Number(call.body.toString());
      if (!(ms >= 0)) return send(call, 400, { error: "The body must be a number of milliseconds." });
      runs.skip(ms);
      return send(call, 200, {});
    },
  },
  {
    method: "POST",
    path: /^\/__simulator\/scenario$/,
    handle(call, context) {
      try {
        context.setScenario(JSON.parse(call.body.toString()));
      } catch (error) {
        return send(call, 400, { error: String(error) });
      }
      return send(call, 200, context.player().scenario);
    },
  },
  {
    method: "POST",
    path: /^\/__simulator\/reset$/,
    handle(call, context) {
      context.ledger.clear();
      context.runs.clear();
      context.setScenario(context.player().scenario);
      send(call, 200, {});
    },
  },
];
