/** Rebuilds a PNG from its chunks (https://www.w3.org/TR/png-3/#5Chunk-layout). */

import { crc32 } from "node:zlib";

const SIGNATURE_BYTES = 8;
/** Length, type and checksum. */
const FRAME_BYTES = 12;

/** Pixels, palette, transparency, colour space and density. Texts, times, EXIF data and animations are left out. */
const KEPT = new Set("IHDR PLTE IDAT IEND tRNS bKGD sBIT gAMA cHRM sRGB iCCP cICP pHYs".split(" "));

export function rebuildPng(bytes: Buffer): Buffer | undefined {
  const kept = [bytes.subarray(0, SIGNATURE_BYTES)];
  let hasPixels = false;
  for (let at = SIGNATURE_BYTES; at + FRAME_BYTES <= bytes.length;) {
    const end = at + FRAME_BYTES + bytes.readUInt32BE(at);
    if (end > bytes.length) return undefined;
    const type = bytes.toString("latin1", at + 4, at + 8);
    if ((type === "IHDR") !== (at === SIGNATURE_BYTES)) return undefined;
    if (KEPT.has(type)) {
      if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return undefined;
      kept.push(bytes.subarray(at, end));
    } else if (isCritical(type)) return undefined;
    hasPixels ||= type === "IDAT";
    if (type === "IEND") return hasPixels ? Buffer.concat(kept) : undefined;
    at = end;
  }
  return undefined;
}

/** A picture with an unknown critical chunk cannot be drawn. */
const isCritical = (type: string): boolean => /^[A-Z]/.test(type);
