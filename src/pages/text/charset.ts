/** Decodes a page: valid UTF-8 is UTF-8; otherwise the declared encoding, or else the most probable one. */

import { detect } from "chardet";

/** A declaration must be within the first 1,024 bytes (WHATWG HTML); some pages need more. */
const DECLARATION_BYTES = 4_096;
const META_CHARSET = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i;
const XML_ENCODING = /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})/i;
/** Statistics need no more, and their time grows with the text. */
const SAMPLE_BYTES = 65_536;

export function decodeText(bytes: Uint8Array, contentType: string): string {
  const marked = byteOrderMark(bytes);
  if (marked !== undefined) return new TextDecoder(marked).decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder(declared(bytes, contentType) ?? probable(bytes)).decode(bytes);
  }
}

function byteOrderMark([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

/** UTF-8 was already ruled out, whatever the page declares. */
function declared(bytes: Uint8Array, contentType: string): string | undefined {
  const head = Buffer.from(bytes.subarray(0, DECLARATION_BYTES)).toString("latin1");
  const labels = [
    /charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(contentType),
    META_CHARSET.exec(head),
    XML_ENCODING.exec(head),
  ];
  return labels.map((match) => encodingOf(match?.[1])).find((name) => name !== undefined && name !== "utf-8");
}

function probable(bytes: Uint8Array): string {
  const name = encodingOf(detect(bytes.subarray(0, SAMPLE_BYTES)) ?? undefined);
  return name === undefined || name === "utf-8" ? "windows-1252" : name;
}

/** The name by which TextDecoder knows the label. */
function encodingOf(label: string | undefined): string | undefined {
  try {
    return label === undefined ? undefined : new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}
