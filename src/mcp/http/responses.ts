/**
 * Responses of the MCP endpoint: JSON-RPC errors, and when a response ends. An event stream ends with its body, completed
 * or cancelled, any other response at once.
 */

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
