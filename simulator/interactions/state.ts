/** State file of the simulator: one JSON line per event, so that it survives a restart or a kill. */

import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { z } from "zod";

const savedLine = z.discriminatedUnion("event", [
  z.object({
    event: z.literal("start"),
    id: z.string(),
    query: z.string(),
    agent: z.string(),
    model: z.string().optional(),
    previous: z.string().optional(),
    context: z.number().optional(),
    labels: z.record(z.string(), z.string()),
    key: z.string(),
    at: z.number(),
    skipped: z.number(),
    thinks: z.boolean(),
    draws: z.boolean(),
    plan: z.object({ topic: z.string(), changes: z.array(z.string()), isApproved: z.boolean() }).optional(),
    attached: z.array(z.record(z.string(), z.unknown())).optional(),
    schema: z.record(z.string(), z.unknown()).optional(),
    offline: z.boolean().optional(),
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

const NO_STATE_FILE: StateFile = { append() {}, clear() {}, close() {} };

/** Skips an incomplete line, left by a kill during a write that was never acknowledged. */
function parseLine(text: string): SavedLine[] {
  try {
    return [savedLine.parse(JSON.parse(text))];
  } catch {
    return [];
  }
}

/** Applies all saved lines before accepting new ones. */
export function openStateFile(path: string | undefined, apply: (line: SavedLine) => void): StateFile {
  if (path === undefined) return NO_STATE_FILE;
  const descriptor = openSync(path, "a+", 0o600);
  const text = readFileSync(descriptor, "utf8");
  const write = (line: string): void => void writeSync(descriptor, line);
  if (text !== "" && !text.endsWith("\n")) write("\n");
  for (const line of text.split("\n").flatMap(parseLine)) apply(line);
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
