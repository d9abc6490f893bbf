/** Colours and clickable links for a stream. */

import { styleText } from "node:util";
import type { Environment } from "../../config/environment.ts";

export type Style = "strong" | "emphasis" | "underline" | "struck" | "faint" | "good" | "bad" | "careful" | "accent";

const FORMATS = {
  strong: "bold",
  emphasis: "italic",
  underline: "underline",
  struck: "strikethrough",
  faint: "dim",
  good: "green",
  bad: "red",
  careful: "yellow",
  accent: "cyan",
} as const;

export type Paint = (style: Style, text: string) => string;

export const paintFor =
  (stream: NodeJS.WriteStream): Paint =>
  (style, text) =>
    text === "" ? text : styleText(FORMATS[style], text, { stream, validateStream: true });

/** Adds no colours. */
export const unpainted: Paint = (_look, text) => text;

/** Returns the text as a link. The URL must be one that `webUrl` returned: it then contains no control characters. */
export type Hyperlink = (url: string, text: string) => string;

const OPEN = "\u001B]8;;";
const END = "\u001B\\";

export const hyperlink: Hyperlink = (url, text) => `${OPEN}${url}${END}${text}${OPEN}${END}`;

/** Terminals that ignore OSC 8, or print it: there, URLs are written out. */
const WITHOUT_LINKS = { TERM: /^(?:dumb|linux)$/, TERM_PROGRAM: /^Apple_Terminal$/ };

/** Undefined where links cannot be clicked. `FORCE_HYPERLINK` is what other programs read, too. */
export function hyperlinkFor(stream: NodeJS.WriteStream, environment: Environment): Hyperlink | undefined {
  const { TERM = "", TERM_PROGRAM = "", FORCE_HYPERLINK: forced } = environment;
  if (forced !== undefined && forced !== "") return forced === "0" ? undefined : hyperlink;
  if (!stream.isTTY || WITHOUT_LINKS.TERM.test(TERM) || WITHOUT_LINKS.TERM_PROGRAM.test(TERM_PROGRAM)) return undefined;
  return hyperlink;
}
