/** Seals what the user of a 2026-era client is asked in the state that the client returns with the answer. */

import { hkdfSync, randomBytes } from "node:crypto";
import { createRequestStateCodec, type RequestStateCodec } from "@modelcontextprotocol/server";
import type { Subject } from "../operations/question/subject.ts";

export interface SealedQuestion {
  /** What a yes agrees to. */
  subject: Subject;
  /** The user's answer to the clarifying question before it. */
  details?: string | undefined;
  /** The id of the run that a yes starts: the client may send a yes twice. */
  newTaskId: string;
}

const KEY_BYTES = 32;
const UNSHARED_KEY = randomBytes(KEY_BYTES).toString("hex");

/** What all processes that may get the answer know, and no user of a shared server does. */
export interface SealSecrets {
  apiKey: string | undefined;
  databaseUrl: string | undefined;
}

/**
 * The answer may reach another process than the one that asked. With another key the seal does not fit, and the user is
 * asked again. Vertex AI has no API key: then processes share the key through the URL of their database only.
 */
function keyFrom({ apiKey, databaseUrl }: SealSecrets): Uint8Array {
  const shared = [apiKey, databaseUrl].filter((secret) => secret !== undefined).join("\0");
  const secret = shared === "" ? UNSHARED_KEY : shared;
  return new Uint8Array(hkdfSync("sha256", secret, "", "gemini-search-mcp question seal", KEY_BYTES));
}

export interface SealOptions {
  secrets: SealSecrets;
  owner: string;
  ttlMs: number;
}

export const questionSeal = ({ secrets, owner, ttlMs }: SealOptions): RequestStateCodec<SealedQuestion> =>
  createRequestStateCodec({ key: keyFrom(secrets), ttlSeconds: ttlMs / 1_000, bind: () => owner });
