/** The one paid request of a start: built by Google's SDK, sent by `sendOnce`, its outcome classified here. */

import { AsyncLocalStorage } from "node:async_hooks";
import type { StartOutcome } from "../research-agent.ts";
import type { Fetch } from "../transport/guarded-fetch.ts";
import { observedRequest } from "../transport/request-telemetry.ts";
import { type HttpResponse, NotSent, type SendOnce, type SingleRequest, Withheld } from "./send-once.ts";
import { type Explain, outcomeOfFailure, outcomeOfResponse } from "./start-outcome.ts";
import { refuseUnpollableProxy } from "./proxy-check.ts";

/** Sends the paid request that the SDK is building. The SDK passes no context to fetch, which all its requests share. */
const paidSender = new AsyncLocalStorage<(request: Request) => Promise<Response>>();

/** Sends paid requests with the sender of their context, and all others with `fetcher`. */
export const divertPaidRequests =
  (fetcher: Fetch): Fetch =>
  (input, init) => {
    const send = paidSender.getStore();
    return send === undefined ? fetcher(input, init) : send(new Request(input, init));
  };

interface PaidRequest extends Pick<
  SingleRequest,
  "signal" | "environment" | "checkBeforeSending" | "maxResponseBytes"
> {
  sendOnce: SendOnce;
  limitMs: number;
  /** Makes the SDK build the request. Its parsed result is not used: the SDK rejects some responses that carry an id. */
  create: () => Promise<unknown>;
  explain: Explain;
}

export async function sendPaidRequest(request: PaidRequest): Promise<StartOutcome> {
  const { signal, limitMs, explain } = request;
  let sending: Promise<HttpResponse> | undefined;
  const send = async (built: Request): Promise<Response> => {
    if (sending !== undefined) throw new Error("A paid request is sent once.");
    sending = sendBuilt(built, request);
    const response = sending;
    return observedRequest(built, undefined, async () => asResponse(await response));
  };
  const notBuilt = await paidSender.run(send, request.create).then(
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
}

async function sendBuilt(built: Request, request: PaidRequest): Promise<HttpResponse> {
  const { signal, environment, checkBeforeSending, maxResponseBytes } = request;
  const body = Buffer.from(await built.arrayBuffer());
  const { method, headers } = built;
  const url = new URL(built.url);
  const refusal = await refuseUnpollableProxy(url, environment);
  if (refusal !== undefined) throw new Withheld(refusal);
  return request.sendOnce({ url, method, headers, body, signal, environment, checkBeforeSending, maxResponseBytes });
}

const WITHOUT_BODY = new Set([204, 205, 304]);

/** The response for the SDK and telemetry. `Response` only accepts statuses from 200 to 599. */
function asResponse({ status, headers, text }: HttpResponse): Response {
  const isAllowed = status >= 200 && status < 600;
  const content = { "content-type": headers.get("content-type") ?? "" };
  return new Response(WITHOUT_BODY.has(status) ? null : text, { status: isAllowed ? status : 502, headers: content });
}
