/** A notification: two short lines of plain text. */

import { cleanText } from "../platform/clean-text.ts";

export type NotificationKind = "completed" | "failed" | `plan-${number}`;

export interface Notification {
  title: string;
  body: string;
}

const MAX_TITLE_CHARS = 80;
const MAX_BODY_CHARS = 200;

/** Makes one short line of each text, without control characters. */
export const sanitizeNotification = ({ title, body }: Notification): Notification => ({
  title: shortLine(title, MAX_TITLE_CHARS),
  body: shortLine(body, MAX_BODY_CHARS),
});

function shortLine(text: string, limit: number): string {
  const line = cleanText(text)
    .toWellFormed()
    // Not valid in XML: Windows would reject the whole notification.
    .replaceAll(/[\uFFFE\uFFFF]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  if (line.length <= limit) return line;
  const cut = line.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, "");
  return `${cut}…`;
}
