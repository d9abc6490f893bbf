/** What an MCP client is offered: tool sets, by name of a set or of the tools, and profiles, in which tools have the shape that one client expects. */

import { z } from "zod";
import { TOOL_NAMES } from "./tool-names.ts";

export type ToolName = (typeof TOOL_NAMES)[number];

/** Only in the set `all`: each tool of the others costs tokens in every session. */
const OPTIONAL: readonly ToolName[] = ["compare_reports", "read_page", "schedule_research"];

const SETS: Record<string, readonly ToolName[]> = {
  core: ["search", "deep_search", "start_deep_research", "check_research_status", "get_research_results"],
  research: TOOL_NAMES.filter((name) => !OPTIONAL.includes(name)),
  all: TOOL_NAMES,
};

export const DEFAULT_TOOLS = "research";

/** Requests any public address that its caller names: only the operator's own setting offers it. */
export const OPERATOR_ONLY: ToolName = "read_page";

/** What a value may be, as a sentence for an error message. */
export const TOOL_CHOICES = `Choose ${Object.keys(SETS).join(", ")}, or tool names separated by commas: ${TOOL_NAMES.join(", ")}.`;

export interface ToolSet {
  /** The value that chose the set. */
  name: string;
  /** In the order of the catalogue. */
  listed: readonly ToolName[];
}

const entriesOf = (value: string): string[] =>
  value
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== "");

const isTool = (entry: string): entry is ToolName => TOOL_NAMES.some((name) => name === entry);

const isKnown = (entry: string): boolean => Object.hasOwn(SETS, entry) || isTool(entry);

/** Undefined if an entry is neither a set nor a tool, or if there is none. */
export function parseToolSet(value: string): ToolSet | undefined {
  const entries = entriesOf(value);
  if (entries.length === 0 || !entries.every(isKnown)) return undefined;
  const chosen = new Set(entries.flatMap((entry) => SETS[entry] ?? (isTool(entry) ? [entry] : [])));
  return { name: entries.join(","), listed: TOOL_NAMES.filter((name) => chosen.has(name)) };
}

/** The set of a value that has been validated. */
export function toolSet(value: string): ToolSet {
  const parsed = parseToolSet(value);
  if (parsed === undefined) throw new Error(`Not a tool set: ${value}`);
  return parsed;
}

/** What a client has chosen in the address of a server with this set of its own. */
export function chosenTools(value: string, own: ToolSet): ToolSet {
  const { name, listed } = toolSet(value);
  return { name, listed: listed.filter((tool) => tool !== OPERATOR_ONLY || own.listed.includes(tool)) };
}

export const toolSetSetting = () =>
  z
    .string()
    .trim()
    .refine((value) => parseToolSet(value) !== undefined);

const PROFILES = ["chatgpt"] as const;

export type Profile = (typeof PROFILES)[number];

export const PROFILE_CHOICES = `Choose ${PROFILES.join(", ")}.`;

export const profileSchema = z.enum(PROFILES);

export const parseProfile = (value: string): Profile | undefined => PROFILES.find((profile) => profile === value);
