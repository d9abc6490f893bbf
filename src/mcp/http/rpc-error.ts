/** A refusal on the MCP endpoint as a JSON-RPC error: of a request where its id is known, else of none. */

export const rpcError = (
  status: number,
  error: { code: number; message: string },
  { headers = {}, id = null }: { headers?: Record<string, string>; id?: string | number | null } = {},
): Response => Response.json({ jsonrpc: "2.0", error, id }, { status, headers });
