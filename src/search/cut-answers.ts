/** Tracks truncated answers: asks for a shorter answer after a truncation, and keeps the longest report. */

import type { Answer } from "../gemini/search-backend.ts";
import { isEcho } from "./schemas.ts";

/** After the first truncation a shorter answer is requested; a second one shows that this does not help. */
const MAX_CUTS = 2;

const MIN_REPORT_CHARACTERS = 1_000;
/** Used if nothing was written, because thinking used up the tokens. */
const DEFAULT_REPORT_CHARACTERS = 4_000;

export interface CutAnswer {
  report: string;
  main: Answer;
}

interface CutAnswers {
  /** `report` is undefined if the answer ended before its report began. */
  add(report: string | undefined, main: Answer | undefined): void;
  /** Whether no further attempt should be made. */
  isFinal(): boolean;
  longest(): CutAnswer | undefined;
  /** The prompt, after a truncation with the request for a shorter answer. */
  promptFor(prompt: string): string;
}

export function createCutAnswers(): CutAnswers {
  let cuts = 0;
  let longest: CutAnswer | undefined;
  return {
    add: (report, main) => {
      cuts += 1;
      if (report === undefined || main === undefined || !isResult(report)) return;
      if (longest === undefined || report.length > longest.report.length) longest = { report, main };
    },
    isFinal: () => cuts >= MAX_CUTS,
    longest: () => longest,
    promptFor: (prompt) => {
      if (cuts === 0) return prompt;
      const half = Math.max(MIN_REPORT_CHARACTERS, Math.round((longest?.report.length ?? 0) / 2));
      const characters = longest === undefined ? DEFAULT_REPORT_CHARACTERS : half;
      return `${prompt}\n\nThe last answer to this task was too long and was cut off. Answer again in the same form, with a report of at most ${characters} characters.`;
    },
  };
}

const isResult = (report: string): boolean => report.trim() !== "" && !isEcho({ success: true, report }, undefined);
