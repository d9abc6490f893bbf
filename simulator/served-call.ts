/** Shared by all simulated routes: check the key, record the request, record its outcome. */

import { deliver, type Delivery } from "./faults.ts";
import { errorReply, type ErrorName } from "./google-errors.ts";
import { keyFingerprint, type LedgerEntry } from "./ledger.ts";
import type { Call, SimulatorContext } from "./route.ts";

const MAX_BODY_BYTES = 20 * 1024 * 1024;

function keyOf({ headers, url }: Call): string | undefined {
  const header = headers["x-goog-api-key"];
  const key = typeof header === "string" ? header : url.searchParams.get("key");
  return key === null || key === "" ? undefined : key;
}

export function fingerprintOf(call: Call): string | undefined {
  const key = keyOf(call);
  return key === undefined ? undefined : keyFingerprint(key);
}

export function refusalFor(call: Call, context: SimulatorContext): ErrorName | undefined {
  if (keyOf(call) === undefined) return "key-missing";
  const { refuses } = context.player().scenario;
  return refuses ?? (call.body.length > MAX_BODY_BYTES ? "body-too-large" : undefined);
}

export function recordOutcome(call: Call, entry: LedgerEntry, outcome: LedgerEntry["outcome"]): void {
  if (entry.outcome !== "pending") return;
  entry.outcome = outcome;
  if (call.response.headersSent) entry.status = call.response.statusCode;
}

/** Records the outcome by the connection's events; after a complete response `finish` comes before `close`. */
export function openLedgerEntry(
  call: Call,
  { ledger }: SimulatorContext,
  facts: Partial<LedgerEntry> = {},
): LedgerEntry {
  const { method, url, body, response } = call;
  const entry = ledger.record({
    method,
    path: url.pathname,
    bytes: body.length,
    key: fingerprintOf(call),
    ...facts,
  });
  response.once("finish", () => recordOutcome(call, entry, "completed"));
  response.once("close", () => recordOutcome(call, entry, "aborted"));
  return entry;
}

/** Without an entry the outcome is not recorded. */
export function serve(
  call: Call,
  entry: LedgerEntry | undefined,
  delivery: Omit<Delivery, "signal" | "onCut">,
): Promise<void> {
  return deliver(call.response, {
    ...delivery,
    signal: call.signal,
    onCut: () => {
      if (entry !== undefined) recordOutcome(call, entry, "cut");
    },
  });
}

export function refuse(call: Call, entry: LedgerEntry, name: ErrorName): Promise<void> {
  entry.served = name;
  return serve(call, entry, { reply: errorReply(name), fault: undefined, latencyMs: 0 });
}
