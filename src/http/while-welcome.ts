/** A stream outlives the moment in which its caller was let in: whether they still would be is asked again and again. */

const ASK_AGAIN_MS = 30_000;

export interface Welcome {
  isWelcome: () => Promise<boolean>;
  askAgainMs?: number;
}

/** Ends the stream of whoever's token was revoked or has expired; other answers are as they are. */
export function whileWelcome(response: Response, { isWelcome, askAgainMs = ASK_AGAIN_MS }: Welcome): Response {
  if (response.body === null || !response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
  const ending = new AbortController();
  const timer = setInterval(() => {
    isWelcome().then(
      (welcome) => welcome || ending.abort(new Error("The token is no longer accepted.")),
      // The database may be busy; that is no reason to cut anybody off.
      () => undefined,
    );
  }, askAgainMs).unref();
  const ended = new TransformStream<Uint8Array, Uint8Array>({ flush: () => clearInterval(timer) });
  ending.signal.addEventListener("abort", () => clearInterval(timer));
  const { readable, writable } = ended;
  response.body.pipeTo(writable, { signal: ending.signal }).catch(() => clearInterval(timer));
  return new Response(readable, { status: response.status, headers: response.headers });
}
