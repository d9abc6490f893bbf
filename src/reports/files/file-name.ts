/** File names of reports: always a single safe name in one directory, on every platform. */

/** Leaves room for task id, time, number and extension within the 255 bytes that file systems allow. */
const MAX_PREFIX_BYTES = 100;
/** Bounds the work of the patterns; only the first 100 bytes can be used. */
const MAX_PREFIX_CHARACTERS = 1_000;

/**
 * Only letters, digits, `-` and `_` remain. Without separators, dots, colons, spaces, control and direction characters
 * the name cannot leave the directory, be hidden, or name a stream or device. A reserved name such as CON is harmless
 * once `_` follows it.
 */
export function namePart(text: string): string {
  const plain = text
    .slice(0, MAX_PREFIX_CHARACTERS)
    .normalize("NFC")
    .replaceAll(/[^\p{L}\p{M}\p{N}_-]+/gu, "-")
    // Invisible characters would make the printed path differ from the real one.
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    // A leading `-` would be read as an option by many commands; a leading accent has no base letter.
    .replace(/^[-\p{M}]+/u, "");
  return shortened(plain).replace(/-+$/, "");
}

function shortened(text: string): string {
  let name = "";
  let bytes = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > MAX_PREFIX_BYTES) break;
    name += character;
  }
  return name;
}

/** Windows takes these names for devices, with any extension. */
const DEVICE = /^(?:CON|PRN|AUX|NUL|COM[0-9¹²³]|LPT[0-9¹²³]|CONIN\$|CONOUT\$)$/i;

/**
 * A title as the name of a file: `Heat pumps in cold climates.md`, then `Heat pumps in cold climates (2).md`. What a
 * system forbids in a name, or a shell or a link would read, becomes a space; words that do not fit are left out whole.
 */
export function titledFileName({ title, ending }: { title: string; ending: FileEnding }, number: number): string {
  const plain = title
    .slice(0, MAX_PREFIX_CHARACTERS)
    .normalize("NFC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replaceAll(/[^\p{L}\p{M}\p{N}_,.()&+’–—-]+/gu, " ")
    // Hidden files begin with a dot, options with a hyphen; a leading accent has no base letter.
    .replace(/^[\s.,–—\p{M}-]+/u, "");
  const cut = shortened(plain);
  const whole = cut === plain || !cut.includes(" ") ? cut : cut.slice(0, cut.lastIndexOf(" "));
  // Windows drops a dot or a space at the end.
  const name = whole.replace(/[\s.,–—-]+$/, "");
  const safe = name === "" || DEVICE.test((name.split(".")[0] ?? "").trim()) ? `Report ${name}`.trim() : name;
  return `${safe}${number === 1 ? "" : ` (${number})`}.${ending}`;
}

export interface ReportName {
  prefix: string;
  taskId: string;
  now: number;
  /** `md` if undefined. */
  ending?: FileEnding | undefined;
}

export type FileEnding = "md" | "html" | "docx" | "csv" | "json" | "bib" | "ris" | "zip";

/** `{prefix}_{task_id}_{YYYYMMDD_HHMMSS}.md` in UTC; the second report with that name ends in `_2.md`. */
export function reportFileName({ prefix, taskId, now, ending = "md" }: ReportName, number: number): string {
  const stamp = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "_");
  const counted = number === 1 ? "" : `_${number}`;
  return `${namePart(prefix) || "research"}_${namePart(taskId) || "run"}_${stamp}${counted}.${ending}`;
}

/** Matches the names that `monthFolder` returns. */
export const MONTH_FOLDER = /^\d{4}-\d{2}$/;

export const monthFolder = (now: number): string => new Date(now).toISOString().slice(0, 7);
