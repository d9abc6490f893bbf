/** What is logged about an error that is a bug: an id, the version of the build, and the stack with source lines. */

import { readFileSync } from "node:fs";
import type { SourceMap } from "node:module";

/** Set by the build; undefined when the sources run unbundled. */
declare const BUILD_VERSION: string | undefined;

/** The published package has no source maps: with the version, its stack can be mapped later (scripts/map-stack.ts). */
const WHERE = typeof BUILD_VERSION === "string" ? ` in version ${BUILD_VERSION}` : "";

export interface UnexpectedError {
  /** Returned to the caller, who sees nothing else of the error. */
  id: string;
  /** For the log. */
  message: string;
}

export function unexpectedError(error: unknown): UnexpectedError {
  const id = crypto.randomUUID().slice(0, 8);
  const stack = error instanceof Error ? sourceStack(error.stack ?? error.message) : String(error);
  return { id, message: `Unexpected error ${id}${WHERE}: ${stack}` };
}

/** The directory of the bundle when this module is part of it. */
const BUNDLE = new URL(".", import.meta.url).href;

/** Modules are named by URL, so that no path has a space or a parenthesis in it. */
const FRAME = /(file:\/\/[^\s()]+\/)([\w.-]+\.js):(\d+):(\d+)/g;

/**
 * Frames, not maps, are kept: a map takes up to 100 ms and 40 MB to decode, and an error that occurs once may occur with
 * every call. There are no more frames than positions in the bundle that fail.
 */
const mappedFrames = new Map<string, string>();

/** A frame stays as it is when its file does not belong to the bundle or has no map (the published package has none). */
export function sourceStack(stack: string, bundle: string = BUNDLE): string {
  const readMap = createMapReader(bundle);
  return stack.replaceAll(FRAME, (frame, ...groups: string[]) => {
    const [directory, file = "", line, column] = groups;
    if (directory !== bundle) return frame;
    const known = mappedFrames.get(frame);
    if (known !== undefined) return known;
    const mapped = sourceOf(readMap(file), Number(line), Number(column));
    if (mapped !== undefined) mappedFrames.set(frame, mapped);
    return mapped ?? frame;
  });
}

function createMapReader(bundle: string): (file: string) => SourceMap | undefined {
  const maps = new Map<string, SourceMap | undefined>();
  return (file) => {
    if (!maps.has(file)) maps.set(file, readSourceMap(new URL(`${file}.map`, bundle)));
    return maps.get(file);
  };
}

function readSourceMap(location: URL): SourceMap | undefined {
  try {
    // Loaded here only: every start imports this file.
    const { SourceMap: Decoder } = process.getBuiltinModule("node:module");
    return new Decoder(JSON.parse(readFileSync(location, "utf8")));
  } catch {
    // Missing or damaged: the error that is being logged matters more.
    return undefined;
  }
}

/** As `src/runs/track.ts:115:41`: relative to the repository, without the directory of the installation. */
function sourceOf(map: SourceMap | undefined, line: number, column: number): string | undefined {
  const entry = map?.findEntry(line - 1, column - 1);
  // A position before the first mapping of its line gets the last entry of an earlier line.
  if (entry === undefined || !("originalSource" in entry) || entry.generatedLine !== line - 1) return undefined;
  const source = entry.originalSource.replace(/^(?:\.\.\/)+/, "");
  return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}
