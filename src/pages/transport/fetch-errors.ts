/** Errors of fetching a page, each with a sentence of this program, and the outcome that an error means. */

import type { PageReading, Receipt } from "../page.ts";
import { RefusedError } from "../guard/refusal.ts";
import { RedirectUnreachable } from "../../gemini/redirect-links.ts";
import { errorCodeOf } from "../../platform/error-code.ts";

/** More bytes than the limits allow. */
export class TooLargeError extends Error {}

/** The response cannot be used: its redirects do not end, or its coding is not one of the supported. */
export class UnusableResponseError extends Error {}

type Outcome = PageReading extends infer Reading
  ? Reading extends Receipt
    ? Omit<Reading, keyof Receipt>
    : never
  : never;

export type FailedOutcome = Exclude<Outcome, { outcome: "text" }>;

const CERTIFICATE_FAULT = /^(?:CERT_|ERR_TLS_|ERR_SSL_|EPROTO$|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH)/;

const SENTENCES: Readonly<Record<string, string>> = {
  EAI_AGAIN: "The host name could not be looked up.",
  ECONNREFUSED: "The host refused the connection.",
  ECONNRESET: "The host closed the connection.",
  EPIPE: "The host closed the connection.",
  EHOSTUNREACH: "The host could not be reached.",
  ENETUNREACH: "The host could not be reached.",
  HPE_HEADER_OVERFLOW: "The host sent too many response headers.",
};

/** `error` was caught while a page was fetched; an abort by the caller is not among them. */
export function failedOutcome(error: unknown): FailedOutcome {
  if (error instanceof RefusedError) return { outcome: "not_checked", reason: error.message };
  if (error instanceof TooLargeError) return { outcome: "unreadable", wall: "too_large" };
  if (error instanceof UnusableResponseError || error instanceof RedirectUnreachable) {
    return { outcome: "unreachable", reason: error.message };
  }
  const code = errorCodeOf(error);
  if (code === "ENOTFOUND" || code === "ENODATA") {
    return { outcome: "gone", reason: "The host name does not exist." };
  }
  return { outcome: "unreachable", reason: sentence(error, code) };
}

/** No connection to the host could be made, as opposed to a slow or damaged answer. */
export function isUnreachableHost(error: unknown): boolean {
  const code = errorCodeOf(error);
  return (
    error instanceof RefusedError ||
    CERTIFICATE_FAULT.test(code) ||
    ["ENOTFOUND", "ENODATA", "EAI_AGAIN", "ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH"].includes(code)
  );
}

function sentence(error: unknown, code: string): string {
  const known = SENTENCES[code];
  if (known !== undefined) return known;
  if (CERTIFICATE_FAULT.test(code)) return "The certificate of the host is not valid.";
  if (code.startsWith("HPE_") || code.startsWith("Z_") || code.startsWith("ERR_") || code.startsWith("ZSTD_")) {
    return "The host sent a damaged response.";
  }
  const isTimeout = error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError");
  return isTimeout || code === "ETIMEDOUT" ? "The host did not answer in time." : "The page could not be fetched.";
}
