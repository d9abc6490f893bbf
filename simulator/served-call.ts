/** What all parts of the simulated API do alike: ask for a key, note a request, see how it ends. */

import { deliver, type Delivery } from "./faults.ts";
import { errorReply, type ErrorName } from "./google-errors.ts";
import { keyFingerprint, type LedgerEntry } from "./ledger.ts";
import type { Call, Stage } from "./route.ts";

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

export function refusalOf(call: Call, stage: Stage): ErrorName | undefined {
  if (keyOf(call) === undefined) return "key-missing";
  if (stage.play().scenario.reject_key) return "key-invalid";
  return call.body.length > MAX_BODY_BYTES ? "body-too-large" : undefined;
}

export function noteEnd(call: Call, entry: LedgerEntry, outcome: LedgerEntry["outcome"]): void {
  if (entry.outcome !== "pending") return;
  entry.outcome = outcome;
  if (call.response.headersSent) entry.status = call.response.statusCode;
}

/** Only the connection knows how a request ended; `close` comes after `finish` when all was sent. */
export function openEntry(call: Call, { ledger }: Stage, facts: Partial<LedgerEntry> = {}): LedgerEntry {
  const { method, url, body, response } = call;
  const entry = ledger.record({
    method,
    path: url.pathname,
    bytes: body.length,
    key: fingerprintOf(call),
    ...facts,
  });
  response.once("finish", () => noteEnd(call, entry, "completed"));
  response.once("close", () => noteEnd(call, entry, "aborted"));
  return entry;
}

/** Without an entry, nobody notes how it ended. */
export function serve(
  call: Call,
  entry: LedgerEntry | undefined,
  what: Omit<Delivery, "signal" | "onCut">,
): Promise<void> {
  return deliver(call.response, {
    ...what,
    signal: call.signal,
    onCut: () => {
      if (entry !== undefined) noteEnd(call, entry, "cut");
    },
  });
}

export function refuse(call: Call, entry: LedgerEntry, name: ErrorName): Promise<void> {
  entry.served = name;
  return serve(call, entry, { reply: errorReply(name), fault: undefined, latencyMs: 0 });
}
