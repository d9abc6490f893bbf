/** How long an answer with a report may be, and the answer with as much of the report as that allows. */

import { PART_CHARACTERS } from "../../reports/sections.ts";
import type { AnswerLimit, Call } from "../operation.ts";
import type { Room } from "./report-reading.ts";

/** For a client whose limit is not known. */
export const DEFAULT_LIMIT: AnswerLimit = { max: 100_000 };

const WHOLE: AnswerLimit = { max: Infinity };

export const limitOf = ({ wholeReports, answerLimit }: Pick<Call, "wholeReports" | "answerLimit">): AnswerLimit =>
  wholeReports === true ? WHOLE : (answerLimit ?? DEFAULT_LIMIT);

/** What `perform` adds to an answer, and a little more. */
const MARGIN = 500;
/** The share of an answer that its list of sources may take. */
const SOURCES_SHARE = 1 / 4;

/** Builds the answer with less and less of the report until the client accepts it; a part of it is always there. */
export function fitAnswer<Answer extends object>(
  { max, sizeOf }: AnswerLimit,
  { build, toText }: { build: (room: Room) => Answer; toText: (answer: Answer) => string },
): Answer {
  if (sizeOf === undefined) return build({ maxCharacters: max });
  const maxSourceCharacters = Math.floor(max * SOURCES_SHARE);
  let maxCharacters = max;
  for (;;) {
    const answer = build({ maxCharacters, maxSourceCharacters });
    const excess = sizeOf({ text: toText(answer), structured: answer }) + MARGIN - max;
    if (excess <= 0 || maxCharacters <= PART_CHARACTERS) return answer;
    maxCharacters = Math.max(PART_CHARACTERS, maxCharacters - excess);
  }
}
