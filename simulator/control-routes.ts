/** How a test in another process reads the ledger, changes the scenario and lets time go by. */

import type { AcceptedStart } from "./interactions/ledger.ts";
import type { Call, Route, Stage } from "./route.ts";

function send(call: Call, status: number, body: unknown): void {
  call.response.writeHead(status, { "content-type": "application/json" });
  call.response.end(JSON.stringify(body));
}

function withCounts(start: AcceptedStart, { ledger }: Stage): object {
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
    // `?from=100` leaves out the first hundred, for those who come again and again.
    method: "GET",
    path: /^\/__simulator\/starts$/,
    handle(call, stage) {
      const all = stage.ledger.acceptedStarts();
      const from = Number(call.url.searchParams.get("from") ?? 0);
      const starts = all.slice(from).map((start) => withCounts(start, stage));
      send(call, 200, { count: all.length, starts, requests: stage.ledger.interactionRequests() });
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
      if (!(ms >= 0)) return send(call, 400, { error: "The body is a number of milliseconds." });
      runs.skip(ms);
      return send(call, 200, {});
    },
  },
  {
    method: "POST",
    path: /^\/__simulator\/scenario$/,
    handle(call, stage) {
      try {
        stage.setScenario(JSON.parse(call.body.toString()));
      } catch (error) {
        return send(call, 400, { error: String(error) });
      }
      return send(call, 200, stage.play().scenario);
    },
  },
  {
    method: "POST",
    path: /^\/__simulator\/reset$/,
    handle(call, stage) {
      stage.ledger.clear();
      stage.runs.clear();
      stage.setScenario(stage.play().scenario);
      send(call, 200, {});
    },
  },
];
