/** JSON-RPC error responses of the MCP endpoint, with the request's id if it is known. */

export const rpcError = (
  status: number,
  error: { code: number; message: string },
  { headers = {}, id = null }: { headers?: Record<string, string>; id?: string | number | null } = {},
): Response => Response.json({ jsonrpc: "2.0", error, id }, { status, headers });
