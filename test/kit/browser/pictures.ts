/** Pictures for tests: a real chart, and PNG headers with arbitrary dimensions. */

import { chartPng } from "../../../simulator/interactions/chart.ts";

let seed = 0;

/** Returns a different chart in base64 on each call. */
export const chart = (): string => {
  seed += 1;
  return chartPng((below) => (seed * 7_919) % below);
};

/** The beginning of a PNG that declares these dimensions; its pixels are missing. */
export function pngHeader(width: number, height: number, bytes = 64): Buffer {
  const png = Buffer.alloc(Math.max(33, bytes));
  Buffer.from("\u0089PNG\r\n\u001A\n\0\0\0\rIHDR", "latin1").copy(png);
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  return png;
}
