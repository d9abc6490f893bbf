/** What every saved file contains, and its title, date and metadata as text. */

import type { Cost } from "../costs/actual.ts";
import { cleanText } from "../platform/clean-text.ts";
import { isoTime } from "../platform/clock.ts";
import type { CitedRange } from "./citations.ts";
import type { FurtherText } from "./further-text.ts";
import type { Picture } from "./pictures/picture.ts";
import type { Source } from "./report.ts";
import { type Verification, verificationLine } from "./verification.ts";

export interface ReportFile {
  query: string;
  /** The user's own, which takes the place of the report's. */
  title?: string | undefined;
  report: string;
  /** Numbered as the report cites them. */
  sources: readonly Source[];
  citations?: readonly CitedRange[] | undefined;
  /** How the run ended, if it ended before the report was complete. */
  partial: string | undefined;
  /** The reason, as one of our own sentences. */
  reason?: string | undefined;
  /** When the run ended. */
  endedAt?: number | undefined;
  /** Undefined: the file has none. */
  metadata: ReportMetadata | undefined;
  /** What follows the report, with the sources of all texts. */
  further?: { listed: readonly Source[]; texts: readonly FurtherText[] } | undefined;
}

/** A file that contains its pictures. */
export interface EmbeddingFile extends ReportFile {
  includeSources?: boolean;
  pictures?: readonly Picture[] | undefined;
  /** Google's Search Suggestions as received. */
  searchSuggestions?: readonly string[] | undefined;
}

export interface ReportMetadata {
  taskId: string;
  kind: string;
  status: string;
  mode: string | undefined;
  model: string | undefined;
  startedAt: number;
  completedAt: number | undefined;
  tokens: { input: number; output: number };
  cost: Cost;
  usageFinal: boolean;
  /** Of a deep search: whether it confirmed the report, and in which round. */
  verified: string | undefined;
  verification?: Verification | undefined;
  note: string | undefined;
  /** What the check of its citations found, in one line. */
  citations?: string | undefined;
  /** What was sent with the question. */
  material?: readonly string[] | undefined;
  savedAt: number;
}

const MAX_TITLE_CHARACTERS = 120;

/** For a report without its own title. */
export function titleOf(query: string): string {
  const text = onOneLine(query);
  if (text === "") return "Research report";
  const characters = Array.from(text);
  if (characters.length <= MAX_TITLE_CHARACTERS) return text;
  const cut = characters.slice(0, MAX_TITLE_CHARACTERS).join("");
  const lastGap = cut.lastIndexOf(" ");
  return `${lastGap > MAX_TITLE_CHARACTERS / 2 ? cut.slice(0, lastGap) : cut}…`;
}

/** Above the text: the user's title, else the report's, else the question. */
export const titleOfFile = ({ title, query }: Pick<ReportFile, "title" | "query">, own: string | undefined): string =>
  title === undefined ? (own ?? titleOf(query)) : onOneLine(title);

/** What is said above a report that is not complete. */
export const partialText = ({ partial, reason }: Pick<ReportFile, "partial" | "reason">): string | undefined =>
  partial === undefined
    ? undefined
    : `this run ended as ${partial} before its report was complete.${reason === undefined ? "" : ` ${reason}`}`;

/** `17 November 2026`, in UTC. */
export const longDate = (at: number): string =>
  new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" }).format(at);

/** Listed after the report, because its reader comes for the text. The note is shown above it. */
export function reportFacts(
  about: ReportMetadata,
  { query, sources }: { query: string; sources: number },
): [name: string, value: string][] {
  const ended = about.completedAt ?? about.savedAt;
  const facts: Record<string, string | undefined> = {
    Query: query,
    "Task ID": about.taskId,
    Tool: about.kind,
    Status: about.status,
    Mode: about.mode,
    Model: about.model,
    Verified: about.verified,
    Verification: about.verification === undefined ? undefined : verificationLine(about.verification),
    "Citations checked": about.citations,
    Sent: about.material === undefined || about.material.length === 0 ? undefined : about.material.join("; "),
    Started: isoTime(about.startedAt),
    Completed: about.completedAt === undefined ? undefined : isoTime(about.completedAt),
    Duration: `${(Math.max(0, ended - about.startedAt) / 60_000).toFixed(1)} minutes`,
    Tokens: `${about.tokens.input.toLocaleString("en-US")} in, ${about.tokens.output.toLocaleString("en-US")} out`,
    Cost: costText(about),
    Sources: String(sources),
    Saved: isoTime(about.savedAt),
  };
  return Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [[name, onOneLine(value)]]));
}

function costText({ cost, usageFinal }: ReportMetadata): string | undefined {
  if (cost.usd === undefined) return undefined;
  return [
    `${cost.incomplete ? "at least " : ""}$${cost.usd.toFixed(4)} at list prices`,
    ...(cost.incomplete ? ["a part has no price"] : []),
    ...(cost.estimated ? ["estimated from the model's family"] : []),
    ...(usageFinal ? [] : ["not final"]),
  ].join(", ");
}

export const onOneLine = (text: string): string => cleanText(text).replaceAll(/\s+/g, " ").trim();
