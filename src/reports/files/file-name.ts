/** Names of report files: whatever is asked for, it stays one plain name in one directory, on every system. */

/** Leaves room for id, time, number and ending within the 255 bytes that file systems allow. */
const MOST_PREFIX_BYTES = 100;
/** Nothing after it can matter, and patterns need not read it. */
const MOST_PREFIX_CHARACTERS = 1_000;

/**
 * Letters, digits, `-` and `_` remain. Without separators, dots, colons, spaces, control and direction characters
 * there is no way out of the directory, no hidden file, no stream, no device; a reserved name such as CON is none once
 * `_` follows it.
 */
export function namePart(text: string): string {
  const plain = text
    .slice(0, MOST_PREFIX_CHARACTERS)
    .normalize("NFC")
    .replaceAll(/[^\p{L}\p{M}\p{N}_-]+/gu, "-")
    // Some letters and accents cannot be seen; the path that we name would be another than that of the file.
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    // A leading `-` would be an option to many commands, a leading accent has no letter to stand on.
    .replace(/^[-\p{M}]+/u, "");
  let name = "";
  let bytes = 0;
  for (const character of plain) {
    bytes += Buffer.byteLength(character);
    if (bytes > MOST_PREFIX_BYTES) break;
    name += character;
  }
  while (name.endsWith("-")) name = name.slice(0, -1);
  return name;
}

export interface ReportName {
  prefix: string;
  taskId: string;
  now: number;
}

/** `{prefix}_{task_id}_{YYYYMMDD_HHMMSS}.md` in UTC; the second report of that name ends in `_2.md`. */
export function reportFileName({ prefix, taskId, now }: ReportName, number: number): string {
  const stamp = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "_");
  const ending = number === 1 ? "" : `_${number}`;
  return `${namePart(prefix) || "research"}_${namePart(taskId) || "run"}_${stamp}${ending}.md`;
}

export const monthFolder = (now: number): string => new Date(now).toISOString().slice(0, 7);
