/** Pictures for tests: a real chart, and pictures that declare arbitrary dimensions. */

import { crc32 } from "node:zlib";
import { chartPng } from "../../../simulator/interactions/chart.ts";

let seed = 0;

/** Returns a different chart in base64 on each call. */
export const chart = (): string => {
  seed += 1;
  return chartPng((below) => (seed * 7_919) % below);
};

/** A PNG that declares these dimensions and has this size; its pixels are noise. */
export const pngOf = (width: number, height: number, bytes = 100): Buffer =>
  Buffer.concat([
    Buffer.from("\u0089PNG\r\n\u001A\n", "latin1"),
    pngChunk("IHDR", header(width, height)),
    pngChunk("IDAT", Buffer.alloc(Math.max(1, bytes - PNG_FRAME_BYTES), 7)),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);

const PNG_FRAME_BYTES = 57;

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

function header(width: number, height: number): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([8, 2], 8);
  return data;
}
