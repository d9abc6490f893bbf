/** Responses of the MCP endpoint: JSON-RPC errors, when a response ends, and the event stream of a call that takes long. */

export const isEventStream = ({ headers }: Response): boolean =>
  headers.get("content-type")?.startsWith("text/event-stream") === true;

export function onResponseEnd(response: Response, callback: () => void): Response {
  const { body, status, headers } = response;
  if (body === null || !isEventStream(response)) {
    callback();
    return response;
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  body.pipeTo(writable).then(callback, callback);
  return new Response(readable, { status, headers });
}

export const rpcError = (
  status: number,
  error: { code: number; message: string },
  { headers = {}, id = null }: { headers?: Record<string, string>; id?: string | number | null } = {},
): Response => Response.json({ jsonrpc: "2.0", error, id }, { status, headers });

/** A response within this time keeps its own HTTP status; the strictest client seen waits 60 s for a first byte. */
const OPEN_AFTER_MS = 5_000;
const KEEP_ALIVE_INTERVAL_MS = 15_000;
const COMMENT = ": still working\n\n";

/** Without a progress token a call sends nothing until its result, which may take minutes. */
export async function withEarlyStream(answer: Promise<Response>, openAfterMs = OPEN_AFTER_MS): Promise<Response> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, openAfterMs, undefined);
  });
  try {
    return (await Promise.race([answer, late])) ?? streamed(answer);
  } finally {
    clearTimeout(timer);
  }
}

/** When the client disconnects, the request's own signal aborts the call; here only the comments have to stop. */
function streamed(answer: Promise<Response>): Response {
  let comments: NodeJS.Timeout | undefined;
  const body = new ReadableStream<string>({
    start: (controller) => {
      controller.enqueue(COMMENT);
      comments = setInterval(() => controller.enqueue(COMMENT), KEEP_ALIVE_INTERVAL_MS);
      void answer
        .then(async (response) => {
          clearInterval(comments);
          for await (const event of eventsOf(response)) controller.enqueue(event);
          controller.close();
        })
        .catch((error: unknown) => {
          clearInterval(comments);
          controller.error(error);
        });
    },
    cancel: () => clearInterval(comments),
  });
  return new Response(body.pipeThrough(new TextEncoderStream()), {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    },
  });
}

async function* eventsOf(response: Response): AsyncGenerator<string> {
  if (isEventStream(response) && response.body !== null) {
    yield* response.body.pipeThrough(new TextDecoderStream());
    return;
  }
  const message = await response.text();
  if (message !== "") yield `event: message\ndata: ${message}\n\n`;
}
