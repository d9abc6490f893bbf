/** Takes out of foreign text what a reader cannot see but a terminal or a model would act on. */

/** CSI and OSC sequences: colours, cursor moves, window titles, clipboard writes. */
const TERMINAL_SEQUENCE = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[@-Z\\-_])/g;
/** Other control characters but tab and line break; lone carriage returns overwrite lines. */
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/g;
/** Text direction overrides and invisible characters. Joiners stay: emoji and several scripts need them. */
const INVISIBLE = /[\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFEFF\u{E0000}-\u{E007F}]/gu;

export function cleanText(text: string): string {
  return text
    .replaceAll(TERMINAL_SEQUENCE, "")
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(CONTROL, "")
    .replaceAll(INVISIBLE, "");
}

/** A thought or a query as one short line, its Markdown emphasis left out. */
export const oneLine = (text: string): string =>
  cleanText(text)
    .replaceAll(/[\s*#]+/g, " ")
    .trim()
    .slice(0, 300);

/** Every string inside a value, keys excepted: those are ours. */
export function cleanValue<T>(value: T): T;
export function cleanValue(value: unknown): unknown {
  if (typeof value === "string") return cleanText(value);
  if (Array.isArray(value)) return value.map((item: unknown) => cleanValue(item));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => [key, cleanValue<unknown>(item)]),
    );
  }
  return value;
}
