/**
 * The one paid request of a start: built by Google's SDK, sent by `sendOnce`, its outcome classified as accepted, certainly
 * not charged, or unknown. A start whose polls would bypass the proxy is refused.
 */

import { z } from "zod";
import type { StartOutcome } from "../research-agent.ts";
import { type Fetch, ResponseTooLarge } from "../transport/guarded-fetch.ts";
import { type HttpResponse, NotSent, type SendOnce, type SingleRequest, Withheld } from "./send-once.ts";
import { AppError } from "../../errors.ts";
import { canUseProxyFromEnvironment } from "../transport/google-client.ts";
import { readInteraction } from "../interactions/reader.ts";
import { parseJson } from "../../platform/parse-json.ts";

interface PaidRequestOptions extends Pick<
  SingleRequest,
  "signal" | "environment" | "checkBeforeSending" | "maxResponseBytes"
> {
  sendOnce: SendOnce;
  limitMs: number;
  explain: Explain;
}

interface PaidRequest {
  /** For a client of Google's SDK that is used for this request alone. */
  fetch: Fetch;
  /** `create` makes the SDK build the request. Its result is not used: the SDK rejects some responses that carry an id. */
  outcomeOf(create: () => Promise<unknown>): Promise<StartOutcome>;
}

export function createPaidRequest(options: PaidRequestOptions): PaidRequest {
  const { signal, limitMs, explain } = options;
  let sending: Promise<HttpResponse> | undefined;
  return {
    fetch: async (input, init) => {
      if (sending !== undefined) throw new Error("A paid request is sent once.");
      const built = new Request(input, init);
      await (sending = sendBuilt(built, options));
      return new Response(null, { status: 204 });
    },
    outcomeOf: async (create) => {
      const notBuilt = await create().then(
        () => undefined,
        (error: unknown) => new NotSent(error),
      );
      try {
        // The SDK failed before it built the request, for example because it could not load credentials.
        if (sending === undefined) throw notBuilt ?? new NotSent(undefined);
        return outcomeOfResponse(await sending, explain);
      } catch (error) {
        return outcomeOfFailure(error, { limitMs, timedOut: signal.aborted }, explain);
      }
    },
  };
}

async function sendBuilt(
  built: Request,
  { sendOnce, signal, environment, checkBeforeSending, maxResponseBytes }: PaidRequestOptions,
): Promise<HttpResponse> {
  const body = Buffer.from(await built.arrayBuffer());
  const { method, headers } = built;
  const url = new URL(built.url);
  const refusal = await refuseUnpollableProxy(url, environment);
  if (refusal !== undefined) throw new Withheld(refusal);
  return sendOnce({ url, method, headers, body, signal, environment, checkBeforeSending, maxResponseBytes });
}

type Environment = Readonly<Record<string, string | undefined>>;

async function refuseUnpollableProxy(url: URL, environment: Environment): Promise<AppError | undefined> {
  if (!isProxied(url, environment) || usesProxyVariables(environment) || (await canUseProxyFromEnvironment())) {
    return undefined;
  }
  return new AppError({
    code: "GEMINI_UNAVAILABLE",
    message:
      "A proxy is set, but this version of Node.js would send polls past it, so the result could not be collected. Nothing was sent and nothing was charged.",
    suggestion: "Set NODE_USE_ENV_PROXY=1 in the server's environment, or use Node.js 24 or later.",
  });
}

/** Whether this Node process was started with proxy support for fetch. */
const usesProxyVariables = ({ NODE_USE_ENV_PROXY: enabled, NODE_OPTIONS: options = "" }: Environment): boolean =>
  enabled === "1" || [...process.execArgv, ...options.split(/\s+/)].includes("--use-env-proxy");

/** Reads the variables as Node's agents do: the lower-case name wins. */
function isProxied({ protocol, hostname, port }: URL, environment: Environment): boolean {
  const valueOf = (name: string): string => environment[name] ?? environment[name.toUpperCase()] ?? "";
  if (valueOf(protocol === "https:" ? "https_proxy" : "http_proxy") === "") return false;
  const host = hostname.replaceAll(/[[\]]/g, "");
  const withPort = `${host}:${port === "" ? defaultPort(protocol) : port}`;
  const exceptions = valueOf("no_proxy")
    .toLowerCase()
    .split(/[\s,]+/);
  return !exceptions.some(
    (exception) => exception === "*" || [host, withPort].includes(exception) || isDomainOf(host, exception),
  );
}

const defaultPort = (protocol: string): string => (protocol === "https:" ? "443" : "80");

const isDomainOf = (host: string, exception: string): boolean =>
  /^\*?\../.test(exception) && host.endsWith(exception.replace("*", ""));

/** Statuses with which Google rejects a request before doing any work. */
const REFUSED = new Set([400, 401, 402, 403, 404, 413, 422, 429]);

const UNREADABLE: StartOutcome = { kind: "unknown", why: "Google's answer could not be read." };

/** Turns a refused response or a connection failure into one of our own error messages. */
type Explain = (failure: { status: number; text: string } | { cause: unknown; host: string | undefined }) => AppError;

/** Throws the error that cut the response, unless its id arrived. */
function outcomeOfResponse(response: HttpResponse, explain: Explain): StartOutcome {
  const { status, text } = response;
  const isSuccess = status >= 200 && status < 300;
  // Any 2xx response with an id is a paid start, even if its end is missing: the first poll proves the id.
  const interactionId = isSuccess ? (readInteraction(parseJson(text))?.id ?? idInBeginning(text)) : undefined;
  if (interactionId !== undefined) return { kind: "accepted", interactionId };
  if (response.cut !== undefined) throw response.cut;
  if (isSuccess) return UNREADABLE;
  const error = explain(response);
  if (error.reason === "rate_limit") return { kind: "rate_limited", retryAfterMs: retryAfterMs(response), error };
  if (REFUSED.has(status) || (status === 503 && isGooglesUnavailable(text))) return { kind: "refused", status, error };
  const why = error.reason === "overloaded" ? error.message : `Google answered with HTTP ${status}.`;
  return { kind: "unknown", why };
}

/** A name with its value if that is a complete id, any other string even without its end, or a bracket. */
const TOKEN = /"id"\s*:\s*"([\w.=-]+)"|"(?:[^"\\]|\\[^])*(?:"|$)|[{}[\]]/g;

/** Far more than comes before the id. */
const MAX_SEARCHED_CHARACTERS = 65_536;

/** The id of an interaction whose JSON breaks off after it. Its steps and tool calls have ids, too. */
function idInBeginning(text: string): string | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  let depth = 0;
  for (const [token, id] of text.slice(0, MAX_SEARCHED_CHARACTERS).matchAll(TOKEN)) {
    if (id !== undefined && depth === 1) return id;
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
  }
  return undefined;
}

function outcomeOfFailure(
  error: unknown,
  { limitMs, timedOut }: { limitMs: number; timedOut: boolean },
  explain: Explain,
): StartOutcome {
  if (error instanceof Withheld) return { kind: "withheld", error: error.reason };
  if (error instanceof NotSent) return { kind: "not_sent", error: explain({ cause: error.cause, host: error.host }) };
  if (error instanceof ResponseTooLarge) return UNREADABLE;
  if (timedOut) return { kind: "unknown", why: `Google did not answer within ${limitMs / 1_000} s.` };
  return { kind: "unknown", why: "The connection broke after the request was sent." };
}

/** The form in which Google's services write errors; a failing proxy or gateway sends something else. */
const googleError = z.object({ error: z.object({ code: z.literal(503), status: z.literal("UNAVAILABLE") }) });
const unavailable = z.union([googleError, z.tuple([googleError])]);

const isGooglesUnavailable = (text: string): boolean => unavailable.safeParse(parseJson(text)).success;

const MAX_RETRY_AFTER_MS = 15 * 60_000;

/** The header holds seconds or a date; without a header, Google's RetryInfo in the body counts. */
export function retryAfterMs({ headers, text }: Pick<HttpResponse, "headers" | "text">): number | undefined {
  const header = headers.get("retry-after");
  const info = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(text)?.[1];
  const seconds = header === null ? Number(info) : Number(header);
  const ms = Number.isNaN(seconds) && header !== null ? Date.parse(header) - Date.now() : seconds * 1_000;
  // Google sends nanoseconds; fractions of a millisecond are rounded up.
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, Math.ceil(ms)), MAX_RETRY_AFTER_MS);
}
