/** The simulated Google's memory on disk: one JSON line per event, so that it can be restarted, even by a kill. */

import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { z } from "zod";

const savedLine = z.discriminatedUnion("event", [
  z.object({
    event: z.literal("start"),
    id: z.string(),
    query: z.string(),
    agent: z.string(),
    labels: z.record(z.string(), z.string()),
    key: z.string(),
    at: z.number(),
    skipped: z.number(),
    thinks: z.boolean(),
    life: z.record(z.string(), z.unknown()),
  }),
  z.object({ event: z.literal("delivered"), id: z.string() }),
  z.object({ event: z.literal("cancel"), id: z.string(), elapsed: z.number() }),
  z.object({ event: z.literal("delete"), id: z.string() }),
  z.object({ event: z.literal("skip"), ms: z.number() }),
]);

export type SavedLine = z.output<typeof savedLine>;

interface StateFile {
  append(line: SavedLine): void;
  clear(): void;
  close(): void;
}

const NOWHERE: StateFile = { append() {}, clear() {}, close() {} };

/** A kill in the middle of writing leaves half a line, which nobody was told about. */
function parseLine(text: string): SavedLine[] {
  try {
    return [savedLine.parse(JSON.parse(text))];
  } catch {
    return [];
  }
}

/** Tells what it remembers, line by line, before it takes new ones. */
export function openStateFile(path: string | undefined, remember: (line: SavedLine) => void): StateFile {
  if (path === undefined) return NOWHERE;
  const descriptor = openSync(path, "a+", 0o600);
  const text = readFileSync(descriptor, "utf8");
  const write = (what: string): void => void writeSync(descriptor, what);
  if (text !== "" && !text.endsWith("\n")) write("\n");
  for (const line of text.split("\n").flatMap(parseLine)) remember(line);
  let isOpen = true;
  return {
    append(line) {
      if (isOpen) write(`${JSON.stringify(line)}\n`);
    },
    clear: () => ftruncateSync(descriptor),
    close() {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
    },
  };
}
