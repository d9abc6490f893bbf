/**
 * Port to Google's Deep Research agents: a paid start, with the user's own material; polling, streaming, cancelling and
 * deleting are free.
 */

import type { AppError } from "../errors.ts";
import type { VisitedSource } from "./search-backend.ts";

/**
 * How one paid request differs from a plain research question to the agent. Stored with its run, so that a confirmed
 * restart sends the same request.
 */
export interface RequestVariant {
  /** Answers instead of the agent: Google continues a finished research with a model. */
  model?: string | undefined;
  /** The interaction that this one continues. */
  previousInteractionId?: string | undefined;
  /** Sent instead of the query, for example the query together with a stored report. */
  input?: string | undefined;
  /** True asks for a plan instead of a report. False is sent explicitly: without it, Google would plan on. */
  collaborativePlanning?: boolean | undefined;
  /** The agent may draw charts, which it does if the question asks for them; "off" is sent without it. */
  visualization?: "auto" | undefined;
  /** Files, pages, stores and servers that the agent uses besides the web. */
  material?: Material | undefined;
  /** The answer is a table with these columns, as JSON, from the input alone: the model searches nothing. */
  columns?: string[] | undefined;
}

export interface StartRequest {
  query: string;
  /** The agent's name at Google. */
  agent: string;
  variant?: RequestVariant | undefined;
  /** The contents of the variant's files, in the same order. */
  files?: readonly SentFile[] | undefined;
  /** The servers that the variant names. */
  mcpServers?: readonly RemoteMcpServer[] | undefined;
  /** Shown with the interaction in Google's console; letters, digits and hyphens. */
  labels: Record<string, string>;
  /** Google has refused the labels or the webhook of this request, which has been sent with them. */
  omitsExtras?: boolean | undefined;
  /**
   * Called when the connection is established and nothing has been written yet: the last moment at which the request
   * can be withheld. Resolves with the reason not to send, if there is one.
   */
  checkBeforeSending: () => Promise<AppError | undefined>;
  signal: AbortSignal;
}

/** Outcome of the one paid request. */
export type StartOutcome =
  | { kind: "accepted"; interactionId: string }
  /** The request never reached Google: nothing was charged and it may be sent again. */
  | { kind: "not_sent"; error: AppError }
  /** `checkBeforeSending` returned an error: nothing was sent, and the start must not be retried. */
  | { kind: "withheld"; error: AppError }
  /** Google rejected the request: nothing was charged. `status` is undefined where nothing was sent. */
  | { kind: "refused"; error: AppError; status?: number | undefined }
  | { kind: "rate_limited"; retryAfterMs: number | undefined; error: AppError }
  /** The request was sent, but whether Google accepted it is unknown: it must never be repeated automatically. */
  | { kind: "unknown"; why: string };

export type InteractionStatus =
  | "working"
  /** A status that this version does not know; it may or may not be final. */
  | "unknown"
  | "completed"
  | "failed"
  | "cancelled"
  /** Ended early with a partial result: incomplete, over budget, or waiting for an action that cannot be taken here. */
  | "ended_early";

/** Why a run failed, as far as a user can act on it. */
export type FailureCause =
  | "credits"
  | "quota"
  | "blocked"
  | "rejected"
  | "access"
  | "overloaded"
  | "timeout"
  | "internal";

/** A range of the report that a source supports, in UTF-16 units; the end is exclusive. */
export interface AgentCitation {
  sourceIndex: number;
  start: number;
  end: number;
}

export interface AgentUsage {
  input: number;
  output: number;
  cached: number;
  searches: number;
}

export interface AgentPicture {
  /** As declared; may be empty. */
  mimeType: string;
  /** Base64. */
  data: string;
  /** The characters of the report before it. */
  offset: number;
}

export interface Interaction {
  id: string;
  status: InteractionStatus;
  /** The status as Google sent it. */
  rawStatus: string;
  /** All outputs after the last tool call, joined, and cleaned of what no reader can see. */
  report: string;
  /** Outputs before the report, oldest first. */
  earlierOutputs: string[];
  sources: VisitedSource[];
  citations: AgentCitation[];
  /** Google may report usage only some seconds after completion. */
  usage: AgentUsage | undefined;
  thoughts: string[];
  searches: string[];
  /** In report order. */
  pictures: AgentPicture[];
  /** Search Suggestions as HTML, which Google's terms require to be shown with the answer. */
  searchSuggestions: string[];
  /** Undefined unless Google reported an error. */
  failureCause: FailureCause | undefined;
  /** The interaction as received, for storage. */
  raw: unknown;
}

/** Result of polling or cancelling an interaction. */
export type PollResult =
  | { kind: "found"; interaction: Interaction }
  | { kind: "missing" }
  | { kind: "forbidden" }
  | { kind: "rate_limited"; retryAfterMs: number | undefined }
  /** Google rejects the request itself, so repeating it cannot succeed. */
  | { kind: "rejected" }
  /** The interaction exists, but its response exceeds the size limit. */
  | { kind: "too_long" }
  /** Nothing is known about the interaction; the error says why. */
  | { kind: "unreachable"; error: AppError };

export type AgentEvent =
  | { kind: "thought"; text: string; eventId: string | undefined }
  | { kind: "search"; query: string; eventId: string | undefined }
  /** A page that the agent opens, or that its report cites. Address and title are untrusted. */
  | { kind: "page"; use: "opened" | "cited"; url: string; title: string; eventId: string | undefined }
  | { kind: "text"; text: string; eventId: string | undefined }
  | { kind: "status"; rawStatus: string; eventId: string | undefined }
  /** The stream cannot continue; only a poll shows whether the run still does. */
  | { kind: "error"; eventId: string | undefined }
  | { kind: "done"; eventId: string | undefined };

export interface StreamRequest {
  interactionId: string;
  lastEventId: string | undefined;
  signal: AbortSignal;
  onEvent: (event: AgentEvent) => void;
}

type DeleteResult = { kind: "deleted" } | { kind: "missing" } | { kind: "refused"; error: AppError };

export interface Agent {
  /** Sends at most one request, even after a failure. */
  start(request: StartRequest): Promise<StartOutcome>;
  poll(interactionId: string, signal: AbortSignal): Promise<PollResult>;
  /** Resolves when the stream ends, for any reason; only a poll shows the run's real state. */
  stream(request: StreamRequest): Promise<void>;
  cancel(interactionId: string, signal: AbortSignal): Promise<PollResult>;
  /** Deletes Google's copy permanently. */
  delete(interactionId: string, signal: AbortSignal): Promise<DeleteResult>;
  /** Identifies the API key (hashed) and base URL that a start was made with. */
  readonly fingerprint: { key: string | undefined; baseUrl: string };
}

export const FILE_KINDS = ["pdf", "text", "markdown", "csv", "png", "jpeg", "webp"] as const;
export type FileKind = (typeof FILE_KINDS)[number];

/** A file as every surface lists it. */
export interface FileFacts {
  name: string;
  kind: FileKind;
  bytes: number;
  /** In hexadecimal. */
  sha256: string;
}

export interface SentFile extends FileFacts {
  content: Uint8Array;
}

/** Stored with the run, so that a restart sends the same. Holds no content and no secret; an empty list is absent. */
export interface Material {
  files?: FileFacts[] | undefined;
  urls?: string[] | undefined;
  /** Names such as `fileSearchStores/handbook`. */
  fileSearchStores?: string[] | undefined;
  /** Names of servers in the configuration. */
  mcpServers?: string[] | undefined;
}

/** A remote MCP server that the agent may call, with its secrets: read from the configuration for each request. */
export interface RemoteMcpServer {
  name: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Undefined allows all of its tools. */
  allowedTools: readonly string[] | undefined;
}

/**
 * What a request sends of it. Files and addresses are part of the conversation that a request continues, but Google
 * applies tools to one turn only.
 */
export function materialToSend({
  material = {},
  previousInteractionId,
}: { material?: Material | undefined; previousInteractionId?: string | undefined } = {}): Material {
  return previousInteractionId === undefined ? material : { ...material, files: undefined, urls: undefined };
}

export const DEFAULT_AGENT = "deep-research-preview-04-2026";

/** More thorough, and dearer. */
export const MAX_AGENT = "deep-research-max-preview-04-2026";

export const AGENTS = [DEFAULT_AGENT, MAX_AGENT] as const;

/** Agents that Google has shut down, each with its replacement. */
const SUCCESSORS = new Map<string, string>([
  // 2026-10-23
  ["deep-research-pro-preview-12-2025", DEFAULT_AGENT],
]);

export function currentAgent(requested: string): { agent: string; notice: string | undefined } {
  const successor = SUCCESSORS.get(requested);
  return successor === undefined
    ? { agent: requested, notice: undefined }
    : { agent: successor, notice: `Google has shut down ${requested}; its successor ${successor} is used instead.` };
}
