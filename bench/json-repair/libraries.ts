/** The compared repair libraries, each behind the same two functions. */

import { jsonrepair } from "jsonrepair";

export interface Library {
  name: string;
  /** The library alone: returns the value of a text, or throws. */
  parse: (text: string) => unknown;
  /** The library as a step of our extractor: returns valid JSON, or throws. */
  repair: (text: string) => string;
}

type Load = () => Promise<(text: string) => unknown>;

const OTHERS: Record<string, Load> = {
  json5: async () => callable(await load("json5"), "parse"),
  "partial-json": async () => callable(await load("partial-json"), "parse"),
  "best-effort-json-parser": async () => callable(await load("best-effort-json-parser"), "parse"),
  jsonic: async () => callable(await load("jsonic"), "Jsonic"),
  "llm-json-repair": async () => callable(await load("llm-json-repair"), "repairJsonOrThrow"),
};

export const LIBRARY_NAMES = ["JSON.parse", "jsonrepair", ...Object.keys(OTHERS)];

export async function loadLibrary(name: string): Promise<Library> {
  if (name === "JSON.parse") return { name, parse: JSON.parse, repair: (text) => text };
  if (name === "jsonrepair") {
    return { name, parse: (text) => JSON.parse(jsonrepair(text)), repair: jsonrepair };
  }
  const parse = await (OTHERS[name] ?? fail(`unknown library ${name}`))();
  const repair = (text: string): string => JSON.stringify(parse(text)) ?? fail("no value");
  return { name, parse, repair };
}

/** The name is a variable because the packages are installed on demand and have no types here. */
async function load(name: string): Promise<Record<string, unknown>> {
  const module: Record<string, unknown> = await import(name);
  // CommonJS packages have their exports on `default`.
  return { ...Object.fromEntries(Object.entries(module["default"] ?? {})), ...module };
}

function callable(module: Record<string, unknown>, name: string): (text: string) => unknown {
  const found = module[name];
  return typeof found === "function" ? (text) => found(text) as unknown : fail(`no function ${name}`);
}

function fail(message: string): never {
  throw new Error(message);
}
