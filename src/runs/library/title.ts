/** The title that a user gives a run. */

import { cleanText } from "../../platform/clean-text.ts";

export const MAX_TITLE_CHARACTERS = 200;

/** One line without control and invisible characters. */
export const cleanTitle = (typed: string): string => cleanText(typed).replaceAll(/\s+/g, " ").trim();
