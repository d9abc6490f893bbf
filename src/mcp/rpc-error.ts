/** A refusal on the MCP endpoint, in the shape JSON-RPC gives to errors that belong to no request. */

export const rpcError = (
  status: number,
  error: { code: number; message: string },
  headers: Record<string, string> = {},
): Response => Response.json({ jsonrpc: "2.0", error, id: null }, { status, headers });
