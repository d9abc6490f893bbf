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

export type PageReading = Receipt &
  (
    | { outcome: "text"; page: PageText }
    | { outcome: "unreadable"; wall: Wall }
    /** 404, 410, a soft 404, a parked domain, or a name that does not exist. */
    | { outcome: "gone"; reason: string }
    /** No answer, a server error, a rate limit, or a certificate fault. */
    | { outcome: "unreachable"; reason: string }
    /** Refused by the guard, or not attempted. */
    | { outcome: "not_checked"; reason: string }
  );

/** Reads one page; resolves with the outcome and does not reject, except when the signal is aborted. */
export type ReadPage = (url: string, signal: AbortSignal) => Promise<PageReading>;
