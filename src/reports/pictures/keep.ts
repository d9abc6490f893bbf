/**
 * Selects the pictures of a report to store, within size limits, and explains why others were dropped. The bytes are kept
 * as received: every surface gives them out as an image of a type that runs nothing, whatever else they contain.
 */

import { createHash } from "node:crypto";
import { PICTURE_TYPES, type Picture, type PictureType } from "./picture.ts";
import { sniffPicture } from "./sniff.ts";

export interface ReceivedPicture {
  /** As declared; may be empty. */
  mimeType: string;
  /** Base64. */
  data: string;
  /** The characters of the report before it. */
  offset: number;
}

/** Responses of Google are limited to 16 MB, which is 12 MB of pictures. */
export const MAX_PICTURES = 20;
/** Below the 8 MB of one MCP message when encoded as base64. */
export const MAX_PICTURE_BYTES = 5.5 * 1_024 * 1_024;
const MAX_PICTURES_BYTES = 12 * 1_024 * 1_024;
/** A viewer needs four bytes per pixel: a small file can declare gigabytes. */
const MAX_PICTURE_SIDE = 10_000;
const MAX_PICTURE_PIXELS = 40_000_000;

type Refusal = "type" | "bytes" | "dimensions" | "total" | "count";

export interface KeptPictures {
  pictures: Picture[];
  /** A sentence about the pictures that were dropped. */
  note: string | undefined;
}

export function keepPictures(received: readonly ReceivedPicture[]): KeptPictures {
  const pictures: Picture[] = [];
  const refusals = new Map<Refusal, number>();
  let bytesLeft = MAX_PICTURES_BYTES;
  const inOrder = received.toSorted((a, b) => a.offset - b.offset);
  for (const picture of inOrder) {
    const read = readPicture(picture, { isFull: pictures.length === MAX_PICTURES, bytesLeft });
    if (typeof read === "string") {
      refusals.set(read, (refusals.get(read) ?? 0) + 1);
    } else {
      pictures.push({ n: pictures.length + 1, ...read });
      bytesLeft -= read.byteLength;
    }
  }
  return { pictures, note: noteAbout(refusals) };
}

/** The first pictures of several responses, within the limits of one. */
export function withinPictureBounds(pictures: readonly Picture[]): Picture[] {
  let bytesLeft = MAX_PICTURES_BYTES;
  return pictures.slice(0, MAX_PICTURES).filter(({ byteLength }) => {
    bytesLeft -= byteLength;
    return bytesLeft >= 0;
  });
}

function readPicture(
  { data, mimeType, offset }: ReceivedPicture,
  { isFull, bytesLeft }: { isFull: boolean; bytesLeft: number },
): Omit<Picture, "n"> | Refusal {
  if (isFull) return "count";
  // Before decoding: base64 uses four characters for three bytes.
  if (data.length > (MAX_PICTURE_BYTES / 3) * 4 + 4) return "bytes";
  const content = Buffer.from(data, "base64");
  const sniffed = sniffPicture(content);
  if (sniffed === undefined || !declares(mimeType, sniffed.mimeType)) return "type";
  if (!isViewable(sniffed)) return "dimensions";
  if (content.length > MAX_PICTURE_BYTES) return "bytes";
  if (content.length > bytesLeft) return "total";
  const hash = createHash("sha256").update(content).digest("hex");
  return { ...sniffed, byteLength: content.length, hash, offset, content };
}

export const isViewable = ({ width, height }: { width: number; height: number }): boolean =>
  width <= MAX_PICTURE_SIDE && height <= MAX_PICTURE_SIDE && width * height <= MAX_PICTURE_PIXELS;

/** A missing type is accepted, a wrong one is not. */
function declares(mimeType: string, sniffed: PictureType): boolean {
  const declared = mimeType
    .toLowerCase()
    .split(";")[0]
    ?.trim()
    .replace(/^image\/jpg$/, "image/jpeg");
  return declared === undefined || declared === "" || declared === sniffed;
}

const TYPE_NAMES = PICTURE_TYPES.map((type) => type.slice("image/".length).toUpperCase()).join(", ");

const BECAUSE: Record<Refusal, string> = {
  type: `not of its declared type, or of a type other than ${TYPE_NAMES}`,
  bytes: `larger than ${MAX_PICTURE_BYTES / 1_024 / 1_024} MB`,
  dimensions: `more than ${MAX_PICTURE_PIXELS / 1_000_000} million pixels`,
  total: `beyond ${MAX_PICTURES_BYTES / 1_024 / 1_024} MB in total`,
  count: `beyond the first ${MAX_PICTURES}`,
};

function noteAbout(refusals: ReadonlyMap<Refusal, number>): string | undefined {
  if (refusals.size === 0) return undefined;
  let total = 0;
  for (const count of refusals.values()) total += count;
  const reasons = [...refusals].map(([refusal, count]) => `${count} ${BECAUSE[refusal]}`).join("; ");
  return `${total === 1 ? "A picture" : `${total} pictures`} of this report could not be kept: ${reasons}.`;
}
