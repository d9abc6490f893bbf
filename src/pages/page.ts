/** What reading a cited web page resulted in. */

/** Text of a page as a reader sees it. Hidden text is left out. */
export interface PageText {
  title: string;
  /** Blocks in reading order: a paragraph, a list item, or one table cell as `caption: row: column: value`. */
  blocks: string[];
  /** As the page states them. */
  date?: string | undefined;
  author?: string | undefined;
}

/** What was received, kept as evidence of the check. */
export interface Receipt {
  url: string;
  finalUrl: string;
  httpStatus?: number | undefined;
  /** Milliseconds since the epoch. */
  checkedAt: number;
  /** SHA-256 of the text, in hex. */
  hash?: string | undefined;
}

export type Wall = "login" | "paywall" | "captcha" | "consent" | "script_only" | "format" | "too_large" | "robots";

export type FailedOutcome =
  | { outcome: "unreadable"; wall: Wall }
  /** 404, 410, a soft 404, a parked domain, or a name that does not exist. */
  | { outcome: "gone"; reason: string }
  /** No answer, a server error, a rate limit, or a certificate fault. */
  | { outcome: "unreachable"; reason: string }
  /** Refused by the guard, or not attempted. */
  | { outcome: "not_checked"; reason: string };

export type PageReading = Receipt & ({ outcome: "text"; page: PageText } | FailedOutcome);

/** Thrown where a page cannot be fetched for a reason of its own. */
export class PageError extends Error {
  readonly outcome: FailedOutcome;

  constructor(outcome: FailedOutcome) {
    super(outcome.outcome);
    this.outcome = outcome;
  }
}

/** Reads one page; resolves with the outcome and does not reject, except when the signal is aborted. */
export type ReadPage = (url: string, signal: AbortSignal) => Promise<PageReading>;

// Bounds of fetching and reading one page.

export interface PageLimits {
  /** Time on the network for one page, over all its redirects; waiting in the queue of the host is not counted. */
  fetchMs: number;
  /** As received. */
  wireBytes: number;
  /** After decompression. */
  textBytes: number;
  headerBytes: number;
  redirects: number;
  readMs: number;
  /** Growth of the process while a page is read, in bytes. */
  readMemoryBytes: number;
  /** Between the end of one request to a host and the start of the next. */
  hostIntervalMs: number;
  concurrentHosts: number;
}

const MEGABYTE = 1_048_576;

export const PAGE_LIMITS: PageLimits = {
  fetchMs: 15_000,
  wireBytes: 8 * MEGABYTE,
  textBytes: 16 * MEGABYTE,
  headerBytes: 16_384,
  redirects: 8,
  readMs: 10_000,
  readMemoryBytes: 256 * MEGABYTE,
  hostIntervalMs: 1_000,
  concurrentHosts: 4,
};

// Waits for work that cannot be cancelled itself; its late result is ignored.

export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
