/**
 * The fault matrix: every known fault of the connection to Google, for each of the four requests, with the expected
 * outcome. 35 faults × 4 requests = 140 cells; a fault with several forms has a row for each.
 */

import type { ErrorCode } from "../../src/errors.ts";
import type { RunStatus } from "../../src/runs/run.ts";
import type { CreateFault, PollFault } from "../kit/server/research.ts";

export const REQUESTS = ["create", "get", "cancel", "stream"] as const;
export type FaultyRequest = (typeof REQUESTS)[number];

/** How the fault is produced. */
export type Cause =
  /** A response of the simulator; a start that is accepted nevertheless has a different name. */
  | { kind: "answer"; fault: PollFault; create?: CreateFault; retryAfter?: () => string }
  /** No response or an endless one: our own limits end the request. */
  | { kind: "silence"; fault: PollFault; create: CreateFault }
  /** The request is sent to another address, where this happens. */
  | { kind: "other target"; target: "closed port" | "reset" | "expired certificate" | "no such host" }
  /** An error of Node's fetch that cannot be produced on loopback. */
  | { kind: "thrown"; code: string; syscall?: string };

export interface Expected {
  /** The status while the fault lasts. */
  state: RunStatus;
  code?: ErrorCode | undefined;
  /** The text that the user reads; undefined if the fault is not visible. */
  sentence: string | undefined;
  /** The status after the fault has ended. */
  end: RunStatus;
  /** Maximum number of paid requests sent. */
  maxPosts: number;
  /** Exact number of paid requests accepted by Google. */
  taken: number;
  /** The `confirmed` field of a cancel's answer. */
  confirmed?: boolean;
}

export interface FaultRow {
  /** The name in the test plan. */
  fault: string;
  /** Distinguishes several forms of one fault. */
  form?: string;
  cause: Cause;
  expected: Record<FaultyRequest, Expected>;
}

const refused = (code: ErrorCode, sentence: string, maxPosts = 1): Expected => ({
  state: "failed",
  code,
  sentence,
  end: "failed",
  maxPosts,
  taken: 0,
});
const unknown = (why: string, taken = 0): Expected => ({
  state: "start_unknown",
  code: "START_UNKNOWN",
  sentence: `${why} It is not known whether the research was started.`,
  end: "start_unknown",
  maxPosts: 1,
  taken,
});
const UNAVAILABLE = "GEMINI_UNAVAILABLE";
const QUOTA = "Google's quota for this key is used up for now.";
const overQuota = (maxPosts: number): Expected => refused(UNAVAILABLE, QUOTA, maxPosts);
/** Replaces the address of the fault, which differs between runs. */
export const HOST = "the host";
const notSent = (sentence: string): Expected => refused(UNAVAILABLE, sentence, 3);
const REFUSED = notSent(`The connection to ${HOST} was refused.`);
const NO_ADDRESS = notSent("Can't reach Google. Are you online?");
const LATE = notSent(`The connection to ${HOST} timed out.`);
const NO_TLS = notSent(
  `No secure connection to ${HOST} could be made: its certificate or protocol was not accepted (TLS).`,
);
const overloaded = (status: number): string => `Google's service is overloaded or failing (HTTP ${status}).`;
const BROKE = "The connection broke after the request was sent.";
/** The limit is shortened for silent faults. */
const SILENT = "Google did not answer within 0.5 s.";
const UNREADABLE = "Google's answer could not be read.";

const waits = (sentence: string | undefined): Expected => ({
  state: "running_async",
  sentence,
  end: "completed",
  maxPosts: 1,
  taken: 1,
});
/** Followed like any other run; unfinished when the fault ends. */
const TAKEN: Expected = { ...waits(undefined), end: "running_async" };
const UNREACHED = waits("Google cannot be reached; trying again");
const FAILING = waits("Google's service is overloaded or failing; trying again");
const UNPAID = waits(
  "Google refuses polls because the prepaid credits are used up; add credits at https://ai.studio/projects",
);
const NOT_JSON = waits("Google's answer cannot be read; trying again");
const MISSING = waits("Google does not find this research at the moment; trying again");
const FORBIDDEN = waits("Google does not allow polls at the moment; trying again");
const REJECTED = waits("Google rejects requests for this research at the moment; trying again");
const TOO_LONG = waits("Google's response is too large to be read here; AI Studio shows the research");
/** The result of the last poll stays visible while all polls are paused. */
const RESTS = waits("Researching");
const UNCONFIRMED: Expected = {
  state: "cancelled",
  sentence:
    "The run is cancelled here. Google has not confirmed it; if its report still arrives, it is charged and kept.",
  end: "cancelled",
  maxPosts: 1,
  taken: 1,
  confirmed: false,
};
/** The response was lost, but Google cancelled the run: the next poll confirms it. */
const DONE: Expected = { ...UNCONFIRMED, sentence: "The run is cancelled.", confirmed: true };

/** Only a poll changes the status of a run. */
const UNSEEN = waits(undefined);

const cells = (create: Expected, get: Expected = UNREACHED, cancel: Expected = UNCONFIRMED): FaultRow["expected"] => ({
  create,
  get,
  cancel,
  stream: UNSEEN,
});

const http = (status: number, create: Expected, get: Expected = UNREACHED): FaultRow => ({
  fault: String(status),
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the simulator refuses a name that it does not know
  cause: { kind: "answer", fault: `http-${status}` as PollFault },
  expected: cells(create, get),
});

const limited = (form: string, retryAfter: () => string, maxPosts: number): FaultRow => ({
  fault: "429 + Retry-After",
  form,
  cause: { kind: "answer", fault: "http-429", retryAfter },
  expected: cells(overQuota(maxPosts), RESTS),
});

const answer = (fault: string, cause: Omit<Cause & { kind: "answer" }, "kind">, expected: FaultRow["expected"]) => ({
  fault,
  cause: { kind: "answer", ...cause } satisfies Cause,
  expected,
});

const ambiguous = (status: number): FaultRow => http(status, unknown(`Google answered with HTTP ${status}.`), REJECTED);
const failing = (status: number): FaultRow => http(status, unknown(overloaded(status)), FAILING);

export const FAULT_ROWS: readonly FaultRow[] = [
  http(400, refused("EXECUTION_ERROR", "Google rejected the request (HTTP 400)."), REJECTED),
  http(401, refused(UNAVAILABLE, "Google rejected the API key."), FORBIDDEN),
  http(403, refused(UNAVAILABLE, "Google does not allow this key to use the model."), FORBIDDEN),
  http(404, refused("EXECUTION_ERROR", "Google does not recognise the model deep-research-preview-04-2026."), MISSING),
  http(402, refused(UNAVAILABLE, "The prepaid credits of the API key's billing account are used up."), UNPAID),
  failing(408),
  ambiguous(409),
  http(413, refused("EXECUTION_ERROR", "The request is too large for Google."), REJECTED),
  ambiguous(416),
  ambiguous(421),
  http(429, overQuota(3), RESTS),
  limited("1 second", () => "1", 3),
  limited("a date", () => new Date(Date.now() + 2_000).toUTCString(), 3),
  limited("0", () => "0", 3),
  limited("-1", () => "-1", 3),
  // Longer than a start may wait.
  limited("10^9 seconds", () => "1000000000", 1),
  ambiguous(499),
  failing(500),
  failing(502),
  failing(503),
  {
    ...answer("503", { fault: "http-503-front-end" }, cells(refused(UNAVAILABLE, overloaded(503)), FAILING)),
    form: "of Google's front end",
  },
  {
    ...answer("503", { fault: "http-503-gateway" }, cells(unknown(overloaded(503)), FAILING)),
    form: "a gateway's",
  },
  failing(504),
  { fault: "connect timeout", cause: { kind: "thrown", code: "UND_ERR_CONNECT_TIMEOUT" }, expected: cells(LATE) },
  {
    fault: "connect timeout",
    form: "refused",
    cause: { kind: "other target", target: "closed port" },
    expected: cells(REFUSED),
  },
  {
    fault: "headers timeout",
    cause: { kind: "silence", fault: "hang", create: "accept-then-hang" },
    expected: cells(unknown(SILENT, 1)),
  },
  {
    fault: "reset before send",
    cause: { kind: "thrown", code: "ECONNRESET", syscall: "connect" },
    expected: cells(notSent(`The connection to ${HOST} failed.`)),
  },
  // The request was not read, which cannot be distinguished here from a reset after sending.
  {
    fault: "reset before send",
    form: "once connected",
    cause: { kind: "other target", target: "reset" },
    expected: cells(unknown(BROKE)),
  },
  answer("201 with an id", { fault: "http-201" }, cells(TAKEN, NOT_JSON, DONE)),
  answer("202 with an id", { fault: "http-202" }, cells(TAKEN, NOT_JSON, DONE)),
  answer("reset after send", { fault: "reset-before", create: "accept-then-reset" }, cells(unknown(BROKE, 1))),
  // The id of a start has arrived.
  answer("reset mid-body", { fault: "reset-mid-body" }, cells(TAKEN, UNREACHED, DONE)),
  { ...answer("reset mid-body", { fault: "short-body" }, cells(TAKEN, UNREACHED, DONE)), form: "closed too early" },
  { ...answer("reset mid-body", { fault: "short-gzip" }, cells(TAKEN, UNREACHED, DONE)), form: "compressed" },
  answer("truncated JSON", { fault: "malformed-json" }, cells(TAKEN, NOT_JSON, DONE)),
  answer("malformed JSON", { fault: "invalid-json" }, cells(unknown(UNREADABLE, 1), NOT_JSON, DONE)),
  answer("JSON of the wrong schema", { fault: "wrong-json" }, cells(unknown(UNREADABLE), NOT_JSON)),
  answer("HTML login page with 200", { fault: "html-200" }, cells(unknown(UNREADABLE), NOT_JSON)),
  answer("empty 200", { fault: "empty-200" }, cells(unknown(UNREADABLE), NOT_JSON)),
  answer("gzip bomb", { fault: "gzip-bomb" }, cells(unknown(UNREADABLE, 1), TOO_LONG, DONE)),
  {
    fault: "slowloris",
    cause: { kind: "silence", fault: "slowloris", create: "slowloris" },
    expected: cells(unknown(SILENT, 1), UNREACHED, DONE),
  },
  {
    fault: "DNS ENOTFOUND",
    cause: { kind: "other target", target: "no such host" },
    expected: cells(NO_ADDRESS),
  },
  {
    fault: "DNS EAI_AGAIN",
    cause: { kind: "thrown", code: "EAI_AGAIN", syscall: "getaddrinfo" },
    expected: cells(NO_ADDRESS),
  },
  {
    fault: "TLS certificate expired",
    cause: { kind: "other target", target: "expired certificate" },
    expected: cells(NO_TLS),
  },
  answer("redirect", { fault: "redirect" }, cells(unknown("Google answered with HTTP 307."), NOT_JSON)),
];
