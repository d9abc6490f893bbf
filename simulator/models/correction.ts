/** The simulated model's correction: extracts the research from a malformed answer and adds nothing. */

import { z } from "zod";

interface Recovered {
  success: boolean;
  verified: boolean;
  report: string;
  sources: string[];
  queries: string[];
  error: string | undefined;
}

const FIELDS = "success|verified|report|result|metadata|sources_visited|search_queries_used|error";

/** A string value ends at a quote that is followed by the object's syntax, or at the end of the text. */
const stringField = (name: string): RegExp =>
  new RegExp(`"(?:${name})"\\s*:\\s*"([\\s\\S]*?)(?:"\\s*(?:,\\s*"(?:${FIELDS})"\\s*:|,?\\s*\\}|$)|$)`);

const ESCAPES: Record<string, string> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

function unescape(text: string): string {
  // Text that ends inside an escape leaves a lone backslash.
  const whole = text.replace(/(?<!\\)((?:\\\\)*)\\(?:u[0-9a-f]{0,3})?$/i, "$1");
  return whole.replaceAll(/\\(?:u([0-9a-f]{4})|(.))/gis, (_, code?: string, letter = "") =>
    code === undefined ? (ESCAPES[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

function readString(text: string, name: string): string | undefined {
  const value = stringField(name).exec(text)?.[1];
  return value === undefined ? undefined : unescape(value);
}

function readStrings(text: string, name: string): string[] {
  const list = new RegExp(`"${name}"\\s*:\\s*\\[\\s*"([\\s\\S]*?)(?:"\\s*,?\\s*\\]|$)`).exec(text)?.[1];
  return list === undefined ? [] : list.split(/"\s*,\s*"/).map(unescape);
}

const readFlag = (text: string, name: string): boolean => new RegExp(`"${name}"\\s*:\\s*true`).test(text);

function fromFields(text: string): Recovered {
  return {
    success: readFlag(text, "success"),
    verified: readFlag(text, "verified"),
    report: readString(text, "report|result") ?? "",
    sources: readStrings(text, "sources_visited"),
    queries: readStrings(text, "search_queries_used"),
    error: readString(text, "error"),
  };
}

function fromProse(text: string): Recovered {
  const sources = [...text.matchAll(/https?:\/\/[^\s()<>[\]"]+/g)].map((match) => match[0]);
  return {
    success: true,
    verified: false,
    report: text.trim(),
    sources: [...new Set(sources)],
    queries: [],
    error: undefined,
  };
}

const answer = z.object({
  success: z.boolean(),
  verified: z.boolean().default(false),
  report: z.string().default(""),
  metadata: z
    .object({
      sources_visited: z.array(z.string()).default([]),
      search_queries_used: z.array(z.string()).default([]),
    })
    .default({ sources_visited: [], search_queries_used: [] }),
  error: z.string().optional(),
});

function fromJson(text: string): Recovered | undefined {
  try {
    const { metadata, error, ...rest } = answer.parse(
      JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)),
    );
    const { sources_visited: sources, search_queries_used: queries } = metadata;
    return { ...rest, sources, queries, error };
  } catch {
    return undefined;
  }
}

const PLACEHOLDER = /^<[^<>]*>$/;

/** An object in a longer text is an example that the text quotes. */
const BEGINS_AS_OBJECT = /^\s*(?:```\w*\s*)?\{/;

/** Undefined if the text contains no research. */
export function recoverResearch(invalidOutput: string): Recovered | undefined {
  const found = BEGINS_AS_OBJECT.test(invalidOutput)
    ? (fromJson(invalidOutput) ?? fromFields(invalidOutput))
    : fromProse(invalidOutput);
  if (!found.success && found.error !== undefined) return found;
  const isEmpty = found.report.trim() === "" || PLACEHOLDER.test(found.report.trim());
  return isEmpty ? undefined : { ...found, success: true };
}
