/** The one paid request of a start: built by Google's SDK, sent by `sendOnce`, its outcome read by us. */

import { AsyncLocalStorage } from "node:async_hooks";
import type { Begun } from "../research-agent.ts";
import type { Fetch } from "../transport/guarded-fetch.ts";
import { observedRequest } from "../transport/request-telemetry.ts";
import { type Answer, NotSent, type OneRequest, type SendOnce, Withheld } from "./send-once.ts";
import { type Explain, outcomeOfAnswer, outcomeOfFault } from "./start-outcome.ts";
import { refuseUnpolled } from "./unpolled-proxy.ts";

/** Whose request the SDK is building: it hands on nothing of ours but the fetch that all its requests share. */
const paid = new AsyncLocalStorage<(request: Request) => Promise<Response>>();

export const exceptPaid =
  (fetcher: Fetch): Fetch =>
  (input, init) => {
    const send = paid.getStore();
    return send === undefined ? fetcher(input, init) : send(new Request(input, init));
  };

export interface PaidRequest extends Pick<
  OneRequest,
  "signal" | "environment" | "checkBeforeSending" | "maxAnswerBytes"
> {
  sendOnce: SendOnce;
  limitMs: number;
  /** Makes the SDK build the request. Its own reading of the answer is not used: it refuses statuses that carry an id. */
  create: () => Promise<unknown>;
  explain: Explain;
}

export async function sendPaidRequest(request: PaidRequest): Promise<Begun> {
  const { signal, limitMs, explain } = request;
  let sending: Promise<Answer> | undefined;
  const send = async (built: Request): Promise<Response> => {
    if (sending !== undefined) throw new Error("A paid request is sent once.");
    sending = read(built, request);
    const answered = sending;
    return observedRequest(built, undefined, async () => asResponse(await answered));
  };
  const built = await paid.run(send, request.create).then(
    () => undefined,
    (error: unknown) => new NotSent(error),
  );
  try {
    // Without a request there was a fault before it, such as credentials that could not be had.
    if (sending === undefined) throw built ?? new NotSent(undefined);
    return outcomeOfAnswer(await sending, explain);
  } catch (fault) {
    return outcomeOfFault(fault, { limitMs, timedOut: signal.aborted }, explain);
  }
}

async function read(built: Request, request: PaidRequest): Promise<Answer> {
  const { signal, environment, checkBeforeSending, maxAnswerBytes } = request;
  const body = Buffer.from(await built.arrayBuffer());
  const { method, headers } = built;
  const url = new URL(built.url);
  const refusal = await refuseUnpolled(url, environment);
  if (refusal !== undefined) throw new Withheld(refusal);
  return request.sendOnce({ url, method, headers, body, signal, environment, checkBeforeSending, maxAnswerBytes });
}

const WITHOUT_BODY = new Set([204, 205, 304]);

/** For the SDK and for telemetry. A Response takes fewer statuses than HTTP has. */
function asResponse({ status, headers, text }: Answer): Response {
  const isUsual = status >= 200 && status < 600;
  const content = { "content-type": headers.get("content-type") ?? "" };
  return new Response(WITHOUT_BODY.has(status) ? null : text, { status: isUsual ? status : 502, headers: content });
}
