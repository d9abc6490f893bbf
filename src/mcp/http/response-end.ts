/** When a response is over: at once, or with the end of its stream. */

/** Calls back once the response is over: for a stream when its body has ended, however it ends. */
export function whenOver(response: Response, callback: () => void): Response {
  const { body, status, headers } = response;
  if (body === null || !headers.get("content-type")?.startsWith("text/event-stream")) {
    callback();
    return response;
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  body.pipeTo(writable).then(callback, callback);
  return new Response(readable, { status, headers });
}
