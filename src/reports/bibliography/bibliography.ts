/** Bibliography files of a report's sources: BibTeX, RIS and CSL-JSON. */

import type { BibliographyFormat } from "./bibliography-formats.ts";
import { type CitedSources, type CslItem, cslItems, isoDate } from "./csl.ts";

const WRITERS: Record<BibliographyFormat, (items: CslItem[]) => string> = {
  bibtex: (items) => items.map(bibtexEntry).join("\n"),
  ris: (items) => items.map(risRecord).join("\r\n"),
  csl: (items) => `${JSON.stringify(items, null, 2)}\n`,
};

export const bibliography = (cited: CitedSources, format: BibliographyFormat): string =>
  WRITERS[format](cslItems(cited));

/**
 * Characters that TeX acts on; the rest is UTF-8, which biblatex and current BibTeX read. Braces become parentheses:
 * BibTeX counts them even after a backslash, so that one of them could end the field.
 */
const TEX: Readonly<Record<string, string>> = {
  "\\": String.raw`\textbackslash{}`,
  "~": String.raw`\textasciitilde{}`,
  "^": String.raw`\textasciicircum{}`,
  "{": "(",
  "}": ")",
};
const tex = (text: string): string =>
  text.replaceAll(/[\\~^{}$&%#_]/g, (character) => TEX[character] ?? `\\${character}`);

/** Addresses are read verbatim, so braces, which would end the field, are encoded. */
const texUrl = (url: string): string => url.replaceAll(/[{}\\]/g, encodeURIComponent);

function bibtexEntry(item: CslItem): string {
  const [author] = item.author ?? [];
  const fields: [name: string, value: string | undefined][] = [
    // The second pair of braces keeps upper case, and a name with commas whole.
    ["title", `{${tex(item.title)}}`],
    ["author", author === undefined ? undefined : `{${tex(author.literal)}}`],
    ["organization", item["container-title"] === undefined ? undefined : tex(item["container-title"])],
    ["date", item.issued === undefined ? undefined : isoDate(item.issued)],
    ["url", item.URL === undefined ? undefined : texUrl(item.URL)],
    ["urldate", isoDate(item.accessed)],
    ["note", item.note === undefined ? undefined : tex(item.note)],
  ];
  const lines = fields.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name} = {${value}},`]));
  return `@online{${item.id},\n${lines.join("\n")}\n}\n`;
}

/** Tag, two spaces, hyphen, space, value; records end with ER. */
function risRecord(item: CslItem): string {
  const fields: [tag: string, value: string | undefined][] = [
    ["TY", "ELEC"],
    ["ID", item.id],
    ["TI", item.title],
    ["AU", item.author?.[0]?.literal],
    ["PB", item["container-title"]],
    ["DA", item.issued === undefined ? undefined : isoDate(item.issued).replaceAll("-", "/")],
    ["PY", item.issued === undefined ? undefined : String(item.issued["date-parts"][0][0])],
    ["UR", item.URL],
    ["Y2", isoDate(item.accessed).replaceAll("-", "/")],
    ["N1", item.note],
    ["ER", ""],
  ];
  return fields.flatMap(([tag, value]) => (value === undefined ? [] : [`${tag}  - ${value}\r\n`])).join("");
}
