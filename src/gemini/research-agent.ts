/** The port to Google's Deep Research agent: a start that is paid for, looks and a stream that are free, a cancel. */

import type { AppError } from "../errors.ts";

export interface BeginRequest {
  query: string;
  /** The agent's name at Google. */
  agent: string;
  /** Ours, for whoever looks at Google's side; letters, digits and hyphens. */
  labels: Record<string, string>;
  /**
   * Called when the connection is established and nothing has been written yet: the last moment at which the request
   * can be withheld. Resolves with the reason not to send, if there is one.
   */
  checkBeforeSending: () => Promise<AppError | undefined>;
  signal: AbortSignal;
}

/** What became of the one paid request. */
export type Begun =
  | { kind: "accepted"; interactionId: string }
  /** It never reached Google: nothing was charged, it may be sent again. */
  | { kind: "not_sent"; error: AppError }
  /** `checkBeforeSending` said no: nothing was sent, and it must not be tried again. */
  | { kind: "withheld"; error: AppError }
  /** Google said no: nothing was charged. */
  | { kind: "refused"; error: AppError }
  | { kind: "rate_limited"; retryAfterMs: number | undefined; error: AppError }
  /** Sent, and it is not known whether it was accepted: must never be repeated by itself. */
  | { kind: "unknown"; why: string };

export type InteractionStatus =
  | "working"
  /** A word that is not known here: it may be an end or not. */
  | "unknown"
  | "completed"
  | "failed"
  | "cancelled"
  /** Ended early with what it had: incomplete, over budget, or waiting for an action nobody can take. */
  | "ended_early";

/** Why a research failed, as far as a user can act on it. */
export type FailureCause = "quota" | "blocked" | "rejected" | "access" | "overloaded" | "timeout" | "internal";

export interface AgentSource {
  url: string;
  title: string;
}

/** A place in the report that a source supports. Bytes of the report in UTF-8, end exclusive. */
export interface AgentCitation {
  sourceIndex: number;
  startByte: number;
  endByte: number;
}

export interface AgentUsage {
  input: number;
  output: number;
  cached: number;
  searches: number;
}

/** A picture of the report. */
export interface AgentPicture {
  mimeType: string;
  /** Base64. */
  data: string;
  /** Where it belongs in the joined report: bytes of UTF-8. */
  offsetByte: number;
}

export interface Interaction {
  id: string;
  status: InteractionStatus;
  /** The word Google used; it may be one we do not know. */
  rawStatus: string;
  /** Every output after the last tool call, joined. */
  report: string;
  /** Outputs before the report, oldest first. */
  earlierOutputs: string[];
  sources: AgentSource[];
  citations: AgentCitation[];
  /** Google may report it only some seconds after completion. */
  usage: AgentUsage | undefined;
  thoughts: string[];
  searches: string[];
  /** In the order of the report; bounded. */
  pictures: AgentPicture[];
  /** HTML that Google's terms ask to show with the answer, one per search that had any. */
  searchSuggestions: string[];
  /** Why it failed, where Google says so. */
  failureCause: FailureCause | undefined;
  /** As received, to be kept. */
  raw: unknown;
}

export type Look =
  | { kind: "found"; interaction: Interaction }
  | { kind: "missing" }
  | { kind: "forbidden" }
  | { kind: "rate_limited"; retryAfterMs: number | undefined }
  /** Google does not accept the request itself: it will not accept the same one later either. */
  | { kind: "rejected" }
  /** It is there, and more than we can take in. */
  | { kind: "too_long" }
  | { kind: "unreachable"; error: AppError };

export type AgentEvent =
  | { kind: "thought"; text: string; eventId: string | undefined }
  | { kind: "search"; query: string; eventId: string | undefined }
  | { kind: "text"; text: string; eventId: string | undefined }
  | { kind: "status"; rawStatus: string; eventId: string | undefined }
  /** The stream cannot go on; whether the run can, a poll tells. */
  | { kind: "error"; eventId: string | undefined }
  | { kind: "done"; eventId: string | undefined };

export interface FollowRequest {
  interactionId: string;
  lastEventId: string | undefined;
  signal: AbortSignal;
  onEvent: (event: AgentEvent) => void;
}

type Deleted = { kind: "deleted" } | { kind: "missing" } | { kind: "refused"; error: AppError };

export interface Agent {
  /** Sends at most one request, whatever happens. */
  begin(request: BeginRequest): Promise<Begun>;
  look(interactionId: string, signal: AbortSignal): Promise<Look>;
  /** Resolves when the stream ends, for whatever reason: only a look tells the truth. */
  follow(request: FollowRequest): Promise<void>;
  cancel(interactionId: string, signal: AbortSignal): Promise<Look>;
  /** Removes Google's copy for good. */
  delete(interactionId: string, signal: AbortSignal): Promise<Deleted>;
  /** Which key and address a start was made with, without showing either. */
  readonly fingerprint: { key: string | undefined; baseUrl: string };
}
