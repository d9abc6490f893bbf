/** Fuzz target: an archive is read within bounds, or refused in our own words; no entry is longer than it may be (Z5). */

import { deflateRawSync } from "node:zlib";
import { AppError } from "../../src/errors.ts";
import { openZip, zipOf } from "../../src/reports/files/zip.ts";
import { type FuzzTarget, must } from "./target.ts";

const MAX_BYTES = 10_000;

async function archive(...entries: (readonly [name: string, content: string])[]): Promise<string> {
  async function* files() {
    for (const [name, content] of entries) yield { name, content: Buffer.from(content), at: 0 };
  }
  const pieces: Buffer[] = [];
  for await (const piece of zipOf(files())) pieces.push(piece);
  return Buffer.concat(pieces).toString("latin1");
}

const SEEDS = await Promise.all([
  archive(["gemini-search-mcp.json", "{}"], ["A/run.json", '{"run":{}}']),
  archive(["../x", "x".repeat(100)], ["A/run.json", "0".repeat(MAX_BYTES * 5)]),
  archive(),
]);

export const archives: FuzzTarget = {
  name: "archive",
  seeds: SEEDS,
  words: [
    "PK\u0003\u0004",
    "PK\u0001\u0002",
    "PK\u0005\u0006",
    "\u00FF\u00FF\u00FF\u00FF",
    "\0\0\0\0",
    deflateRawSync("x").toString("latin1"),
  ],
  open: () => ({
    async check(input) {
      const bytes = Buffer.from(input, "latin1");
      const source = {
        bytes: bytes.length,
        read: async (from: number, length: number) => bytes.subarray(from, from + length),
      };
      try {
        const opened = await openZip(source, MAX_BYTES);
        let read = 0;
        for (const name of opened.names.slice(0, 20)) {
          const content = await opened.read(name, MAX_BYTES).catch((error: unknown) => {
            must(error instanceof AppError, `Z5: a damaged entry is refused in our own words: ${String(error)}`);
            return undefined;
          });
          read += content?.length ?? 0;
        }
        must(read <= MAX_BYTES, "Z5: no more is unpacked than may be.");
        return `${opened.names.length > 0} ${read > 0}`;
      } catch (error) {
        must(error instanceof AppError, `Z5: an archive is refused in our own words: ${String(error)}`);
        return "refused";
      }
    },
  }),
};
