/** Calls back when a response has ended: a stream with its body, completed or cancelled, any other at once. */

export function onResponseEnd(response: Response, callback: () => void): Response {
  const { body, status, headers } = response;
  if (body === null || !headers.get("content-type")?.startsWith("text/event-stream")) {
    callback();
    return response;
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  body.pipeTo(writable).then(callback, callback);
  return new Response(readable, { status, headers });
}
