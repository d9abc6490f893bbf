/** Reads type and dimensions of a picture from its first bytes, without decoding it. */

import type { PictureType } from "./picture.ts";

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
