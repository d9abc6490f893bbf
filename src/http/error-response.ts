/** How the HTTP door says no: always JSON, always a sentence of ours. */

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
