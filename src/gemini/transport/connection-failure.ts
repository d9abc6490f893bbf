/** Error messages for failed connections by cause: DNS, refused, TLS, timeout or other. */

import type { AppErrorOptions } from "../../errors.ts";
import { isRecord } from "../../platform/is-record.ts";

type Diagnosis = "dns" | "refused" | "tls" | "timeout" | "other";

const DNS = /^(?:ENOTFOUND|EAI_\w+|ENODATA|ESERVFAIL)$/;
const TLS =
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|EPROTO)/;
const TIMEOUT = /^(?:ETIMEDOUT|UND_ERR_\w*TIMEOUT)$/;

/** Node and the SDK wrap an error several times, and report attempts at several addresses of a host together. */
const MAX_DEPTH = 6;

function diagnose(error: unknown): Diagnosis {
  for (let cause = error, depth = 0; isRecord(cause) && depth < MAX_DEPTH; cause = cause["cause"], depth += 1) {
    const { syscall, errors } = cause;
    const code = typeof cause["code"] === "string" ? cause["code"] : "";
    if (DNS.test(code) || syscall === "getaddrinfo") return "dns";
    if (code === "ECONNREFUSED") return "refused";
    if (TLS.test(code)) return "tls";
    if (TIMEOUT.test(code)) return "timeout";
    if (Array.isArray(errors) && errors.length > 0) return diagnose(errors[0]);
  }
  return "other";
}

const PROXY = "the proxy variables (HTTPS_PROXY) and GOOGLE_GEMINI_BASE_URL";

const SENTENCES: Record<Diagnosis, (host: string) => { message: string; suggestion: string }> = {
  dns: (host) => ({
    message: `The address of ${host} could not be found (DNS).`,
    suggestion: `Check the network and its name server, ${PROXY}.`,
  }),
  refused: (host) => ({
    message: `The connection to ${host} was refused.`,
    suggestion: `Check the firewall, ${PROXY}.`,
  }),
  tls: (host) => ({
    message: `No secure connection to ${host} could be made: its certificate or protocol was not accepted (TLS).`,
    suggestion:
      "Check this machine's clock. A proxy that inspects traffic needs its certificate in NODE_EXTRA_CA_CERTS.",
  }),
  timeout: (host) => ({
    message: `The connection to ${host} timed out.`,
    suggestion: `Check the network, the firewall, ${PROXY}.`,
  }),
  other: (host) => ({
    message: `The connection to ${host} failed.`,
    suggestion: `Check the network, ${PROXY}.`,
  }),
};

export function connectionFailure(error: unknown, host = "Google's service"): AppErrorOptions {
  return {
    code: "GEMINI_UNAVAILABLE",
    ...SENTENCES[diagnose(error)](host),
    reason: "network",
    retryable: true,
  };
}
