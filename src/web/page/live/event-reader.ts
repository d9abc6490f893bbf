/** Reads server-sent events with fetch, because `EventSource` cannot send the page's secret. */

import type { Refused } from "../../wire.ts";
import { fetchWithSecret } from "../app/request.ts";

export interface EventHandlers {
  opened: () => void;
  received: (name: string, data: unknown, id: string) => void;
  /** Called once when the stream has ended or could not be opened. */
  lost: (refusal: StreamRefusal | undefined) => void;
}

/** The server responded with an error instead of a stream. */
export interface StreamRefusal {
  status: number;
  message: string | undefined;
  /** Delay requested by the server. */
  retryMs: number;
}

/** Returns a function that closes the stream without calling a handler. */
export function readEvents(path: string, handlers: EventHandlers): () => void {
  const closing = new AbortController();
  void read(path, { handlers, signal: closing.signal }).then((refusal) => {
    if (!closing.signal.aborted) handlers.lost(refusal);
  });
  return () => closing.abort();
}

async function read(
  path: string,
  { handlers, signal }: { handlers: EventHandlers; signal: AbortSignal },
): Promise<StreamRefusal | undefined> {
  try {
    const response = await fetchWithSecret(path, { signal, cache: "no-store" });
    const { ok, body } = response;
    if (!ok || body === null) return await refusalOf(response);
    handlers.opened();
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) return undefined;
      const blocks = `${rest}${value}`.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) dispatch(block, handlers);
    }
  } catch {
    return undefined;
  }
}

async function refusalOf(response: Response): Promise<StreamRefusal> {
  const seconds = Number(response.headers.get("retry-after") ?? 0);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wire.ts is the contract of both sides
  const body = (await response.json().catch(() => undefined)) as Partial<Refused> | undefined;
  const retryMs = Number.isFinite(seconds) ? seconds * 1_000 : 0;
  return { status: response.status, message: body?.error?.message, retryMs };
}

/** Our server ends lines with LF and sends `data` as one line. */
function dispatch(block: string, { received }: EventHandlers): void {
  const fields = new Map(
    block.split("\n").map((line) => {
      const at = line.indexOf(": ");
      return [line.slice(0, at), line.slice(at + 2)];
    }),
  );
  const [name, data] = [fields.get("event"), fields.get("data")];
  if (name === undefined || data === undefined) return;
  const parsed: unknown = JSON.parse(data);
  received(name, parsed, fields.get("id") ?? "");
}
