/** CORS headers that let web pages of allowed origins use the MCP endpoint. */

const ALLOWED_HEADERS = [
  "Authorization",
  "Content-Type",
  "Accept",
  "Last-Event-ID",
  "Mcp-Session-Id",
  "Mcp-Protocol-Version",
  "Mcp-Method",
  "Mcp-Name",
].join(", ");
const EXPOSED_HEADERS = ["Mcp-Session-Id", "Mcp-Protocol-Version", "WWW-Authenticate", "Retry-After"].join(", ");

export const isPreflight = (request: Request): boolean =>
  request.method === "OPTIONS" && request.headers.has("origin") && request.headers.has("access-control-request-method");

export const preflightResponse = (): Response =>
  new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": ALLOWED_HEADERS,
      "access-control-max-age": "600",
    },
  });

/** Only for origins that passed the guard. */
export function addCorsHeaders(headers: Headers, origin: string): void {
  headers.set("access-control-allow-origin", origin);
  headers.set("access-control-expose-headers", EXPOSED_HEADERS);
  headers.append("vary", "Origin");
}
