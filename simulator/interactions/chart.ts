/** Draws a small bar chart as PNG for reports with pictures; each report gets a different one. */

import { crc32, deflateSync } from "node:zlib";

const WIDTH = 320;
const HEIGHT = 180;
const BARS = 8;
const COLOURS = { paper: 0xf4f4f1, bar: 0x3b6fd4, axis: 0x333333 };
/** Length, type and checksum. */
const CHUNK_FRAME_BYTES = 12;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A block of no pixels, of which a compressed stream may have any number. */
const EMPTY_BLOCK = Buffer.from([0, 0, 0, 0xff, 0xff]);
const ZLIB_HEADER_BYTES = 2;

/** Returns Base64, padded to `bytes`. `random` returns an integer below its argument. */
export function chartPng(random: (below: number) => number, bytes = 0): string {
  const heights = Array.from({ length: BARS }, () => 20 + random(HEIGHT - 40));
  const rows = Buffer.alloc((WIDTH * 3 + 1) * HEIGHT);
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) rows.writeUIntBE(colourAt(x, y, heights), y * (WIDTH * 3 + 1) + 1 + x * 3, 3);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  // Eight bits for each of red, green and blue.
  header.set([8, 2, 0, 0, 0], 8);
  const [head, pixels, end] = [chunk("IHDR", header), deflateSync(rows), chunk("IEND", Buffer.alloc(0))];
  const size = SIGNATURE.length + head.length + pixels.length + end.length + 2 * CHUNK_FRAME_BYTES;
  const missing = Math.max(0, bytes - size);
  const rest = missing > 0 ? [chunk("siZe", Buffer.alloc(missing % EMPTY_BLOCK.length))] : [];
  const data = chunk("IDAT", padded(pixels, Math.floor(missing / EMPTY_BLOCK.length)));
  return Buffer.concat([SIGNATURE, head, ...rest, data, end]).toString("base64");
}

const padded = (deflated: Buffer, blocks: number): Buffer =>
  Buffer.concat([
    deflated.subarray(0, ZLIB_HEADER_BYTES),
    Buffer.alloc(blocks * EMPTY_BLOCK.length, EMPTY_BLOCK),
    deflated.subarray(ZLIB_HEADER_BYTES),
  ]);

function colourAt(x: number, y: number, heights: readonly number[]): number {
  if (y > HEIGHT - 8 && y < HEIGHT - 5) return COLOURS.axis;
  const width = WIDTH / BARS;
  const height = heights[Math.floor(x / width)] ?? 0;
  const isInBar = x % width > 6 && y <= HEIGHT - 8 && y > HEIGHT - 8 - height;
  return isInBar ? COLOURS.bar : COLOURS.paper;
}

function chunk(type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length, 0);
  head.write(type, 4, "latin1");
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(data, crc32(type)), 0);
  return Buffer.concat([head, data, check]);
}
