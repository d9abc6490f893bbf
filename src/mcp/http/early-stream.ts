/** An answer that is long in coming: its stream is opened before it is there, because silence is taken for death. */

/** A quick answer keeps its own HTTP status; the strictest client seen waits 60 s for a first byte. */
const PATIENCE_MS = 5_000;
const KEEP_ALIVE_MS = 15_000;
const COMMENT = ": still working\n\n";

/** A call that wants no progress says nothing until its result, which may be minutes. */
export async function openInTime(answer: Promise<Response>, patienceMs = PATIENCE_MS): Promise<Response> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, patienceMs, undefined);
  });
  try {
    return (await Promise.race([answer, late])) ?? streamed(answer);
  } finally {
    clearTimeout(timer);
  }
}

/** Who goes away is told to the call by the request's own signal; here only the comments have to stop. */
function streamed(answer: Promise<Response>): Response {
  let comments: NodeJS.Timeout | undefined;
  const body = new ReadableStream<string>({
    start: (controller) => {
      controller.enqueue(COMMENT);
      comments = setInterval(() => controller.enqueue(COMMENT), KEEP_ALIVE_MS);
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
  if (response.headers.get("content-type")?.startsWith("text/event-stream") === true && response.body !== null) {
    yield* response.body.pipeThrough(new TextDecoderStream());
    return;
  }
  const message = await response.text();
  if (message !== "") yield `event: message\ndata: ${message}\n\n`;
}
