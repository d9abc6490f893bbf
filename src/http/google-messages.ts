/**
 * Receives Google's messages that an interaction has ended. A message is a hint: its signature is checked with Google's
 * keys, and the run is polled soon. Nothing else in it is believed, and a lost one is made up for by the next poll.
 */

import { hash } from "node:crypto";
import type { App } from "../app.ts";
import { type GoogleWebhook, googleWebhook } from "../config/google-webhook.ts";
import { isRecord } from "../platform/is-record.ts";
import { parseJson } from "../platform/parse-json.ts";
import { createRemoteKeys } from "./auth/oauth.ts";
import { refuse } from "./error-response.ts";
import { createBuckets, tooMany } from "./rate-limit.ts";

/** Google's answer to a research is one message. */
const PER_MINUTE = 120;
const MAX_BODY_BYTES = 64 * 1_024;
/** Google repeats a message for a day; forgotten ones only cause a poll. */
const MAX_KNOWN = 10_000;
const MAX_AGE_S = 5 * 60;
const CLOCK_TOLERANCE_S = 60;

/** Undefined for a server that Google cannot reach. */
export type GoogleMessages = (request: Request, address: string) => Promise<Response>;

export function createGoogleMessages(app: App): GoogleMessages | undefined {
  const webhook = googleWebhook(app.config);
  if (webhook === undefined) return undefined;
  const { deps, log } = app;
  const take = createBuckets({ perMinute: PER_MINUTE });
  const warnings = createBuckets({ perMinute: 1 });
  const isValid = createSignatureCheck(webhook, app);
  const known = new Set<string>();
  return async (request, address) => {
    const waitMs = take(address);
    if (waitMs > 0) return tooMany(waitMs, "Too many messages.");
    const token = request.headers.get("webhook-signature") ?? "";
    const message = await readBody(request);
    const verdict = await isValid(token);
    if (verdict !== "valid") {
      if (warnings("") === 0) log.warn(`A message to ${new URL(webhook.url).pathname} was refused: ${verdict}`);
      return refuse({ status: 401, code: "PERMISSION_DENIED", message: "The signature is not valid." });
    }
    const keys = [request.headers.get("webhook-id") ?? "", hash("sha256", token)].filter((key) => key !== "");
    const isRepeated = keys.some((key) => known.has(key));
    for (const key of keys) known.add(key);
    for (const key of [...known].slice(0, known.size - MAX_KNOWN)) known.delete(key);
    const interactionId = idIn(message);
    if (!isRepeated && interactionId !== undefined) {
      // Google waits for the answer a few seconds only.
      void deps
        .research()
        .then(({ runner }) => runner.pollInteraction(interactionId))
        .catch(() => log.debug("A run that Google reported could not be polled at once."));
    }
    return new Response(null, { status: 204 });
  };
}

type Verdict = "valid" | (string & {});

/** Google's page on webhooks names the audience both "your configured audience" and the address of the webhook. */
function createSignatureCheck({ url, keysUrl }: GoogleWebhook, { log }: App): (token: string) => Promise<Verdict> {
  const keys = createRemoteKeys({ url: keysUrl, who: "Google", log });
  return async (token) => {
    const { jwtVerify } = await import("jose");
    try {
      const { payload } = await jwtVerify(token, await keys(), {
        algorithms: ["RS256"],
        clockTolerance: CLOCK_TOLERANCE_S,
        maxTokenAge: MAX_AGE_S,
        requiredClaims: ["exp", "iat"],
      });
      const audience = [payload.aud ?? url].flat();
      return audience.includes(url) ? "valid" : "it is meant for another address.";
    } catch {
      return "it is not signed by Google, or too old.";
    }
  };
}

async function readBody(request: Request): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return parseJson(Buffer.concat(chunks).toString("utf8"));
}

/** Of the interaction, in the thin body. */
function idIn(message: unknown): string | undefined {
  const data = isRecord(message) ? message["data"] : undefined;
  const id = isRecord(data) ? data["id"] : undefined;
  return typeof id === "string" && id.length <= 1_000 ? id.replace(/^interactions\//, "") : undefined;
}
