/**
 * Selects the pictures of a report to store, within size limits, and explains why others were dropped. The bytes are kept
 * as received: every surface gives them out as an image of a type that runs nothing, whatever else they contain.
 */

import { createHash } from "node:crypto";
import type { AgentPicture } from "../../gemini/research-agent.ts";
import { type Picture, PICTURE_TYPES, type PictureType } from "./picture.ts";

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

export function keepPictures(received: readonly AgentPicture[]): KeptPictures {
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
  { data, mimeType, offset }: AgentPicture,
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

// Reads type and dimensions of a picture from its first bytes, without decoding it.

export interface SniffedPicture {
  mimeType: PictureType;
  width: number;
  height: number;
}

/** Undefined for everything that is not a PNG, JPEG or WebP picture with dimensions. */
export function sniffPicture(content: Uint8Array): SniffedPicture | undefined {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const sniffed = sniffPng(bytes) ?? sniffJpeg(bytes) ?? sniffWebp(bytes);
  return sniffed === undefined || sniffed.width === 0 || sniffed.height === 0 ? undefined : sniffed;
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function sniffPng(bytes: Buffer): SniffedPicture | undefined {
  if (bytes.length < 33 || !bytes.subarray(0, 8).equals(PNG_SIGNATURE)) return undefined;
  if (bytes.toString("latin1", 12, 16) !== "IHDR") return undefined;
  return { mimeType: "image/png", width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Start-of-frame markers; C4, C8 and CC in this range have another meaning. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

const START_OF_SCAN = 0xda;

function sniffJpeg(bytes: Buffer): SniffedPicture | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xff_d8 || bytes[2] !== 0xff) return undefined;
  for (let at = 2; at + 9 <= bytes.length;) {
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff || marker === START_OF_SCAN) return undefined;
    // Fill bytes may precede a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (isFrame(marker)) {
      return { mimeType: "image/jpeg", width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    const length = bytes.readUInt16BE(at + 2);
    if (length < 2) return undefined;
    at += 2 + length;
  }
  return undefined;
}

function sniffWebp(bytes: Buffer): SniffedPicture | undefined {
  if (bytes.length < 30 || bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WEBP") {
    return undefined;
  }
  const size = webpSize(bytes, bytes.toString("latin1", 12, 16));
  return size === undefined ? undefined : { mimeType: "image/webp", ...size };
}

function webpSize(bytes: Buffer, chunk: string): { width: number; height: number } | undefined {
  if (chunk === "VP8X") return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (chunk === "VP8L" && bytes[20] === 0x2f) {
    const bits = bytes.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (chunk === "VP8 " && bytes.readUIntBE(23, 3) === 0x9d_01_2a) {
    return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  }
  return undefined;
}
