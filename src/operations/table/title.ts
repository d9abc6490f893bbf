/** The title that a table gets when it is asked for; its question only says what a row is. */

import { cleanTitle } from "../../runs/library/title.ts";

/** Together with the words around them below MAX_TITLE_CHARACTERS, and one or two lines of a list. */
const MAX_QUESTION_CHARACTERS = 80;
const MAX_COLUMNS_CHARACTERS = 80;

/** `question` is that of the run with the report. */
export const tableTitle = (question: string, columns: readonly string[]): string =>
  `Table of “${shortened(question, MAX_QUESTION_CHARACTERS)}”: ${shortened(columns.join(", "), MAX_COLUMNS_CHARACTERS)}`;

function shortened(text: string, maxCharacters: number): string {
  const characters = Array.from(cleanTitle(text));
  if (characters.length <= maxCharacters) return characters.join("");
  return `${characters
    .slice(0, maxCharacters - 1)
    .join("")
    .trimEnd()}…`;
}
