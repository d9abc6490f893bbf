/** Server-sent events read with fetch: unlike `EventSource` it can send the page's secret along. */

import { fetchOwn } from "./ask.ts";

export interface EventHandlers {
  opened: () => void;
  received: (name: string, data: unknown, id: string) => void;
  /** Called once when the stream has ended or could not be opened; `refused`: the server answered with an error. */
  lost: (why: "cut" | "refused") => void;
}

/** Returns a function that closes the stream without a further call. */
export function readEvents(path: string, handlers: EventHandlers): () => void {
  const closing = new AbortController();
  void read(path, { handlers, signal: closing.signal }).then((why) => {
    if (!closing.signal.aborted) handlers.lost(why);
  });
  return () => closing.abort();
}

async function read(
  path: string,
  { handlers, signal }: { handlers: EventHandlers; signal: AbortSignal },
): Promise<"cut" | "refused"> {
  try {
    const { ok, body } = await fetchOwn(path, { signal, cache: "no-store" });
    if (!ok || body === null) return "refused";
    handlers.opened();
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) return "cut";
      const blocks = `${rest}${value}`.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) dispatch(block, handlers);
    }
  } catch {
    return "cut";
  }
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
