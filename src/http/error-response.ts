/** Error responses of the HTTP layer: JSON with a code, a message and a suggestion of ours. */

import type { ErrorCode } from "../errors.ts";

export interface Refusal {
  status: number;
  code: ErrorCode;
  message: string;
  suggestion?: string;
  headers?: Record<string, string>;
}

export const refuse = ({ status, code, message, suggestion, headers = {} }: Refusal): Response =>
  Response.json({ success: false, error: { code, message, suggestion } }, { status, headers });
