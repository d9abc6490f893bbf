/** Sends requests to the server and turns its error responses into errors that can be shown. */

import { type ConsentQuestion, PAGE_SECRET_HEADER, PAGE_SECRET_ITEM, type Refused } from "../../wire.ts";
import { writeStored, readStored } from "./browser-storage.ts";

export class RefusedError extends Error {
  readonly code: string;
  readonly suggestion: string | undefined;
  /** The run that the error is about, if any. */
  readonly taskId: string | undefined;
  /** What the user has to confirm first, if that was the reason. */
  readonly question: ConsentQuestion | undefined;

  constructor({ error, task_id: taskId }: Refused) {
    super(error.message);
    this.code = error.code;
    this.suggestion = error.suggestion;
    this.taskId = taskId;
    this.question = error.details?.question;
  }
}

export const SERVER_AWAY = "SERVER_AWAY";
/** Event of the window: the live stream is open again. */
export const SERVER_BACK = "server-back";

const UNREACHABLE: Refused = {
  success: false,
  error: {
    code: SERVER_AWAY,
    message: "Can't reach the server.",
    suggestion: "Restart it with `gemini-search-mcp serve`; this page will reconnect.",
  },
};

type Send = (path: string, init: RequestInit) => Promise<Response>;

/** Sends the secret that only this origin can read; the cookie alone authorizes nothing. */
const sendToOrigin: Send = (path, init) => {
  const headers = new Headers(init.headers);
  const secret = readStored("localStorage", PAGE_SECRET_ITEM);
  if (secret !== undefined) headers.set(PAGE_SECRET_HEADER, secret);
  return fetch(path, { ...init, headers });
};

let send = sendToOrigin;

/** For the run card in a chat, which has no server at its origin: requests go through the chat's client. */
export function routeRequests(other: Send): void {
  send = other;
}

export const fetchWithSecret = (path: string, init: RequestInit = {}): Promise<Response> => send(path, init);

/** Opens the sign-in page, which returns here afterwards. */
export function goToSignIn(to = location.pathname + location.search): void {
  writeStored("localStorage", PAGE_SECRET_ITEM, undefined);
  location.replace(`/sign-in?to=${encodeURIComponent(to)}`);
}

export async function fetchJson<Answer>(path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetchWithSecret(path, init).catch((error: unknown) => {
    // The calls of the run card are refused with a reason.
    throw error instanceof RefusedError ? error : new RefusedError(UNREACHABLE);
  });
  // Signed out, or the token was revoked.
  if (response.status === 401) goToSignIn();
  const body: unknown = await response.json().catch(() => UNREACHABLE);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wire.ts is the contract of both sides
  if (!response.ok) throw new RefusedError(body as Refused);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  return body as Answer;
}

export const postJson = <Answer>(path: string, body: Record<string, unknown>): Promise<Answer> =>
  fetchJson<Answer>(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
