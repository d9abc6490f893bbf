/** Announces the end of an interaction to the addresses of its start, signed with keys of this process. Loopback only. */

import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import type { Route } from "../route.ts";
import { endOf, statusAt } from "./resource.ts";
import type { Run, Runs } from "./runs.ts";

/** Generated when it is first needed, because it is slow. */
let generated: ReturnType<typeof generateKeys> | undefined;

function generateKeys() {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const jwk = publicKey.export({ format: "jwk" });
  const kid = createHash("sha256").update(JSON.stringify(jwk)).digest("hex").slice(0, 16);
  return { privateKey, kid, jwk: { ...jwk, kid, alg: "RS256", use: "sig" } };
}

const keys = (): ReturnType<typeof generateKeys> => (generated ??= generateKeys());

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A JWT as Google is believed to sign it; `claims` replaces some of them. */
export function signedToken(url: string, event: object, claims: object = {}): string {
  const { privateKey, kid } = keys();
  const now = Math.floor(Date.now() / 1_000);
  const head = part({ alg: "RS256", kid, typ: "JWT" });
  const body = part({
    iss: "https://generativelanguage.googleapis.com",
    aud: url,
    iat: now,
    exp: now + 300,
    ...event,
    ...claims,
  });
  return `${head}.${body}.${sign("sha256", Buffer.from(`${head}.${body}`), privateKey).toString("base64url")}`;
}

const CHECK_MS = 20;
const MAX_ATTEMPTS = 3;
const RETRY_MS = 200;

/** Once the interaction has ended. Nothing waits for it. */
export function announceEnd(run: Run, runs: Runs, uris: readonly string[]): void {
  const timer = setInterval(() => {
    const elapsed = runs.elapsed(run);
    if (runs.find(run.start.id) === undefined) return clearInterval(timer);
    if (elapsed < (endOf(run)?.at ?? Infinity)) return undefined;
    clearInterval(timer);
    const type = `interaction.${statusAt(run, elapsed)}`;
    const event = { type, version: "v1", timestamp: new Date().toISOString(), data: { id: run.start.id } };
    for (const uri of uris) void send(uri, event);
  }, CHECK_MS);
  timer.unref();
}

async function send(uri: string, event: object): Promise<void> {
  if (new URL(uri).hostname !== "127.0.0.1") return;
  const id = randomUUID();
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const headers = {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(Date.now() / 1_000)),
      "webhook-signature": signedToken(uri, event),
    };
    const answer = await fetch(uri, { method: "POST", headers, body: JSON.stringify(event) }).catch(() => undefined);
    if (answer?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
  }
}

export const WEBHOOK_ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: /^\/\.well-known\/jwks\.json$/,
    handle: ({ response }) => {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ keys: [keys().jwk] }));
    },
  },
];
