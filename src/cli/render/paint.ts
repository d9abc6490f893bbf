/** Colours, where the reader has any: Node looks at the terminal, NO_COLOR, FORCE_COLOR and TERM. */

import { styleText } from "node:util";

export type Look = "strong" | "faint" | "good" | "bad" | "careful" | "accent";

const FORMATS = {
  strong: "bold",
  faint: "dim",
  good: "green",
  bad: "red",
  careful: "yellow",
  accent: "cyan",
} as const;

export type Paint = (look: Look, text: string) => string;

export const paintFor =
  (stream: NodeJS.WriteStream): Paint =>
  (look, text) =>
    text === "" ? text : styleText(FORMATS[look], text, { stream, validateStream: true });

/** For what is measured or stored. */
export const unpainted: Paint = (_look, text) => text;
