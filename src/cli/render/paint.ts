/** Colours for a stream; Node checks the terminal, NO_COLOR, FORCE_COLOR and TERM. */

import { styleText } from "node:util";

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
