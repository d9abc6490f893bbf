/** Requests to our own server, and its refusals as errors that can be shown as they are. */

import { PAGE_SECRET_HEADER, PAGE_SECRET_ITEM, type Refused } from "../../wire.ts";
import { remember, remembered } from "./remembered.ts";

export class RefusedError extends Error {
  readonly code: string;
  readonly suggestion: string | undefined;
  readonly details: Record<string, unknown>;
  /** The run it is about, when there is one. */
  readonly taskId: string | undefined;

  constructor({ error, task_id: taskId }: Refused) {
    super(error.message);
    this.code = error.code;
    this.suggestion = error.suggestion;
    this.details = error.details ?? {};
    this.taskId = taskId;
  }
}

const AWAY: Refused = {
  success: false,
  error: {
    code: "SERVER_AWAY",
    message: "The server does not answer.",
    suggestion: "Start it again with `gemini-search-mcp serve`; this page goes on by itself.",
  },
};

/** A request with the secret that only this origin can read: the cookie alone is good for nothing. */
export function fetchOwn(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const secret = remembered("localStorage", PAGE_SECRET_ITEM);
  if (secret !== undefined) headers.set(PAGE_SECRET_HEADER, secret);
  return fetch(path, { ...init, headers });
}

/** Where to sign in, and back here afterwards. */
export function goToSignIn(): void {
  remember("localStorage", PAGE_SECRET_ITEM, undefined);
  location.replace(`/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`);
}

export async function ask<Answer>(path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetchOwn(path, init).catch(() => undefined);
  if (response === undefined) throw new RefusedError(AWAY);
  // Signed out, or the token was revoked.
  if (response.status === 401) goToSignIn();
  const body: unknown = await response.json().catch(() => AWAY);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wire.ts is the contract of both sides
  if (!response.ok) throw new RefusedError(body as Refused);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  return body as Answer;
}

export const tell = <Answer>(path: string, body: Record<string, unknown>): Promise<Answer> =>
  ask<Answer>(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
