/** How a test in another process reads the ledger and changes the scenario. */

import type { Call, Route } from "./route.ts";

function send(call: Call, status: number, body: unknown): void {
  call.response.writeHead(status, { "content-type": "application/json" });
  call.response.end(JSON.stringify(body));
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
      stage.setScenario(stage.play().scenario);
      send(call, 200, {});
    },
  },
];
