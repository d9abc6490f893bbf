/** Rebuilds a WebP from its chunks (RFC 9649, section 2). */

const HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;

/** One frame with transparency and colour profile. EXIF and XMP data are left out. */
const KEPT = new Set(["VP8X", "ICCP", "ALPH", "VP8 ", "VP8L"]);
const FLAGS_KEPT = 0b0011_0000;

export function rebuildWebp(bytes: Buffer): Buffer | undefined {
  const end = CHUNK_HEADER_BYTES + bytes.readUInt32LE(4);
  if (end > bytes.length) return undefined;
  const kept: Buffer[] = [];
  let frames = 0;
  for (let at = HEADER_BYTES; at + CHUNK_HEADER_BYTES <= end;) {
    const type = bytes.toString("latin1", at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    // Chunks are padded to an even length.
    const next = at + CHUNK_HEADER_BYTES + size + (size % 2);
    if (next > end) return undefined;
    if (KEPT.has(type)) kept.push(type === "VP8X" ? withKeptFlags(bytes.subarray(at, next)) : bytes.subarray(at, next));
    if (type === "VP8 " || type === "VP8L") frames += 1;
    at = next;
  }
  return frames === 1 ? withHeader(kept) : undefined;
}

/** Announces only the chunks that are kept; an animation is reduced to nothing and so rejected. */
function withKeptFlags(chunk: Buffer): Buffer {
  const copy = Buffer.from(chunk);
  copy[CHUNK_HEADER_BYTES] = (copy[CHUNK_HEADER_BYTES] ?? 0) & FLAGS_KEPT;
  return copy;
}

function withHeader(chunks: readonly Buffer[]): Buffer {
  const body = Buffer.concat([Buffer.from("WEBP", "latin1"), ...chunks]);
  const header = Buffer.alloc(CHUNK_HEADER_BYTES);
  header.write("RIFF", "latin1");
  header.writeUInt32LE(body.length, 4);
  return Buffer.concat([header, body]);
}
