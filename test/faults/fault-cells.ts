/**
 * The fault matrix: every fault that the way to Google is known for, on each of the four requests, with what must come
 * of it. 32 faults × 4 requests = 128 cells; a fault that comes in several forms has a row for each.
 */

import type { ErrorCode } from "../../src/errors.ts";
import type { RunStatus } from "../../src/runs/run.ts";
import type { CreateFault, LookFault } from "../kit/server/research.ts";

export const REQUESTS = ["create", "get", "cancel", "stream"] as const;
export type FaultyRequest = (typeof REQUESTS)[number];

/** How the fault is made. */
export type Cause =
  /** The simulator answers so; a start that Google takes all the same has its own name. */
  | { kind: "answer"; fault: LookFault; create?: CreateFault; retryAfter?: () => string }
  /** Nothing or too little ever comes: our own limits end it. */
  | { kind: "silence"; fault: LookFault; create: CreateFault }
  /** The request goes to a place where this happens. */
  | { kind: "elsewhere"; place: "nobody" | "reset" | "expired certificate" | "no such host" }
  /** What Node's fetch says where no loopback can be made to do it. */
  | { kind: "thrown"; code: string; syscall?: string };

export interface Expected {
  /** While the fault lasts. */
  state: RunStatus;
  code?: ErrorCode | undefined;
  /** What the user reads, word for word; undefined where the fault does not show. */
  sentence: string | undefined;
  /** After the fault is over, where that changes anything. */
  end: RunStatus;
  /** Paid requests sent, at the most. */
  mostPosts: number;
  /** Paid requests that Google takes, exactly. */
  taken: number;
  /** Of a cancel: what its answer says. */
  confirmed?: boolean;
}

export interface FaultRow {
  /** As the test plan names it. */
  fault: string;
  /** Where one fault has several forms. */
  form?: string;
  cause: Cause;
  expected: Record<FaultyRequest, Expected>;
}

const refused = (code: ErrorCode, sentence: string, mostPosts = 1): Expected => ({
  state: "failed",
  code,
  sentence,
  end: "failed",
  mostPosts,
  taken: 0,
});
const unknown = (why: string, taken = 0): Expected => ({
  state: "start_unknown",
  code: "START_UNKNOWN",
  sentence: `${why} It is not known whether the research was started.`,
  end: "start_unknown",
  mostPosts: 1,
  taken,
});
const UNAVAILABLE = "GEMINI_UNAVAILABLE";
const QUOTA = "Google's quota for this key is used up for now.";
const overQuota = (mostPosts: number): Expected => refused(UNAVAILABLE, QUOTA, mostPosts);
/** The address of the fault, which differs from run to run. */
export const HOST = "the host";
const notSent = (sentence: string): Expected => refused(UNAVAILABLE, sentence, 3);
const REFUSED = notSent(`The connection to ${HOST} was refused.`);
const NO_ADDRESS = notSent(`The address of ${HOST} could not be found (DNS).`);
const LATE = notSent(`The connection to ${HOST} timed out.`);
const NO_TLS = notSent(
  `No secure connection to ${HOST} could be made: its certificate or protocol was not accepted (TLS).`,
);
const BROKE = "The connection broke after the request was sent.";
/** The limit is shortened where silence is played. */
const SILENT = "Google did not answer within 0.5 s.";
const UNREADABLE = "Google's answer could not be read.";

const waits = (sentence: string | undefined): Expected => ({
  state: "running_async",
  sentence,
  end: "completed",
  mostPosts: 1,
  taken: 1,
});
/** Followed as any other: at the end of its fault it is still under way. */
const TAKEN: Expected = { ...waits(undefined), end: "running_async" };
const UNREACHED = waits("Google cannot be reached; trying again");
const FORBIDDEN = waits("Google does not allow a look at the moment; trying again");
const REJECTED = waits("Google rejects requests for this research at the moment; trying again");
const TOO_LONG = waits("What Google has of this research is too long to be read here; AI Studio shows it");
/** The state of the last look stands while all looks rest. */
const RESTS = waits("Researching");
const EXPIRED: Expected = {
  state: "failed",
  code: "RESEARCH_FAILED",
  sentence: "Research session expired on Gemini servers. Task was interrupted and cannot be recovered.",
  end: "failed",
  mostPosts: 1,
  taken: 1,
};

const UNCONFIRMED: Expected = {
  state: "cancelled",
  sentence:
    "The run is cancelled here. Google has not confirmed it; if its report arrives all the same it was paid for and will be kept.",
  end: "cancelled",
  mostPosts: 1,
  taken: 1,
  confirmed: false,
};
/** Its answer was lost, but Google did it: the look that follows says so. */
const DONE: Expected = { ...UNCONFIRMED, sentence: "The run is cancelled.", confirmed: true };

/** Only a look decides anything. */
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
  cause: { kind: "answer", fault: `http-${status}` as LookFault },
  expected: cells(create, get),
});

const limited = (form: string, retryAfter: () => string, mostPosts: number): FaultRow => ({
  fault: "429 + Retry-After",
  form,
  cause: { kind: "answer", fault: "http-429", retryAfter },
  expected: cells(overQuota(mostPosts), RESTS),
});

const answer = (fault: string, cause: Omit<Cause & { kind: "answer" }, "kind">, expected: FaultRow["expected"]) => ({
  fault,
  cause: { kind: "answer", ...cause } satisfies Cause,
  expected,
});

const ambiguous = (status: number): FaultRow => http(status, unknown(`Google answered with HTTP ${status}.`));

export const FAULT_ROWS: readonly FaultRow[] = [
  http(400, refused("EXECUTION_ERROR", "Google rejected the request (HTTP 400)."), REJECTED),
  http(401, refused(UNAVAILABLE, "Google rejected the API key."), FORBIDDEN),
  http(403, refused(UNAVAILABLE, "Google does not allow this key to use the model."), FORBIDDEN),
  http(404, refused("EXECUTION_ERROR", "Google does not know the model deep-research-preview-04-2026."), EXPIRED),
  ambiguous(408),
  ambiguous(409),
  http(413, refused("EXECUTION_ERROR", "Google rejected the request (HTTP 413).")),
  ambiguous(421),
  http(429, overQuota(3), RESTS),
  limited("1 second", () => "1", 3),
  limited("a date", () => new Date(Date.now() + 2_000).toUTCString(), 3),
  limited("0", () => "0", 3),
  limited("-1", () => "-1", 3),
  // Longer than a start may wait.
  limited("10^9 seconds", () => "1000000000", 1),
  ambiguous(500),
  ambiguous(502),
  http(503, refused(UNAVAILABLE, "Google's service is overloaded or failing (HTTP 503).")),
  {
    ...answer("503", { fault: "http-503-gateway" }, cells(unknown("Google answered with HTTP 503."))),
    form: "a gateway's",
  },
  ambiguous(504),
  { fault: "connect timeout", cause: { kind: "thrown", code: "UND_ERR_CONNECT_TIMEOUT" }, expected: cells(LATE) },
  {
    fault: "connect timeout",
    form: "refused",
    cause: { kind: "elsewhere", place: "nobody" },
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
  // Nobody read it; from here that cannot be told from a reset after sending.
  {
    fault: "reset before send",
    form: "once connected",
    cause: { kind: "elsewhere", place: "reset" },
    expected: cells(unknown(BROKE)),
  },
  answer("201 with an id", { fault: "http-201" }, cells(TAKEN, UNREACHED, DONE)),
  answer("202 with an id", { fault: "http-202" }, cells(TAKEN, UNREACHED, DONE)),
  answer("reset after send", { fault: "reset-before", create: "accept-then-reset" }, cells(unknown(BROKE, 1))),
  answer("reset mid-body", { fault: "reset-mid-body" }, cells(unknown(BROKE, 1), UNREACHED, DONE)),
  answer("truncated JSON", { fault: "malformed-json" }, cells(unknown(UNREADABLE, 1), UNREACHED, DONE)),
  answer("malformed JSON", { fault: "invalid-json" }, cells(unknown(UNREADABLE, 1), UNREACHED, DONE)),
  answer("JSON of the wrong schema", { fault: "wrong-json" }, cells(unknown(UNREADABLE))),
  answer("HTML login page with 200", { fault: "html-200" }, cells(unknown(UNREADABLE))),
  answer("empty 200", { fault: "empty-200" }, cells(unknown(UNREADABLE))),
  answer("gzip bomb", { fault: "gzip-bomb" }, cells(unknown(UNREADABLE, 1), TOO_LONG, DONE)),
  {
    fault: "slowloris",
    cause: { kind: "silence", fault: "slowloris", create: "slowloris" },
    expected: cells(unknown(SILENT, 1), UNREACHED, DONE),
  },
  {
    fault: "DNS ENOTFOUND",
    cause: { kind: "elsewhere", place: "no such host" },
    expected: cells(NO_ADDRESS),
  },
  {
    fault: "DNS EAI_AGAIN",
    cause: { kind: "thrown", code: "EAI_AGAIN", syscall: "getaddrinfo" },
    expected: cells(NO_ADDRESS),
  },
  {
    fault: "TLS certificate expired",
    cause: { kind: "elsewhere", place: "expired certificate" },
    expected: cells(NO_TLS),
  },
  answer("redirect", { fault: "redirect" }, cells(unknown("Google answered with HTTP 307."))),
];
