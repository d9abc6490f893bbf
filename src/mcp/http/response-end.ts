/** The end of a response: an event stream ends with its body, completed or cancelled, any other response at once. */

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
