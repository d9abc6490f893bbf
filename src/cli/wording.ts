/** Rewrites messages that were written for models: tools become commands, parameters become flags. */

import { CATALOG } from "../operations/catalog.ts";
import { shell, shortId } from "./render/answer-view.ts";

/** The short command of each tool; a tool without one keeps its name with hyphens. */
export const SHORT_COMMANDS = {
  search: "ask",
  deep_search: "verify",
  estimate_research_cost: "estimate",
  start_deep_research: "research",
  get_research_results: "show",
  verify_citations: "check",
  ask_followup: "followup",
  save_research_to_markdown: "save",
  cancel_research: "stop",
  resume_research: "resume",
  list_research: "list",
} as const satisfies Partial<Record<keyof typeof CATALOG, string>>;

export const kebab = (name: string): string => name.replaceAll("_", "-");

const commandOf = (tool: string): string =>
  Object.entries(SHORT_COMMANDS).find(([name]) => name === tool)?.[1] ??
  (tool === "check_research_status" ? "watch" : kebab(tool));

const WORDS: Readonly<Record<string, string>> = {
  task_id: "run id",
  interaction_id: "interaction id",
  query: "question",
};

/** Flags of lists name one entry. */
const FLAGS: Readonly<Record<string, string>> = {
  files: "--file",
  urls: "--url",
  file_search_stores: "--store",
  mcp_servers: "--mcp",
  numbers: "--source",
};

const flagOf = (field: string): string => FLAGS[field] ?? `--${kebab(field)}`;

/** Only names with an underscore: "search" and "limit" are words, too. */
const isName = (name: string): boolean => name.includes("_");

const TOOLS = Object.keys(CATALOG).filter(isName);
const PARAMETERS = Object.values(CATALOG)
  .flatMap(({ input }) => Object.keys(input.shape))
  .filter(isName);

const RUN = /\(?task_id ([0-9a-f]{8})-[0-9a-f-]{27}\)?/g;
const NAMES = new RegExp(
  String.raw`(?<![\w-])(${[...new Set([...TOOLS, ...PARAMETERS])].toSorted((a, b) => b.length - a.length).join("|")})(?![\w-])`,
  "g",
);

/** Words of tools that are no names. */
const PHRASES: readonly (readonly [tool: RegExp, command: string])[] = [
  [/\bcancel it first\b/g, `stop it first: ${shell("stop")}`],
  [/\bsection (outline|all)\b/g, "--section $1"],
];

export function forPeople(text: string): string {
  return PHRASES.reduce((shown, [tool, command]) => shown.replaceAll(tool, command), text)
    .replaceAll(RUN, (_whole, id: string) => `(${shortId(id)})`)
    .replaceAll(NAMES, (name) => {
      if (TOOLS.includes(name)) return shell(commandOf(name));
      return WORDS[name] ?? flagOf(name);
    });
}

/** A message about an input field that begins with the field's name. */
export function aboutField(message: string, field: unknown): string {
  if (typeof field !== "string" || !message.startsWith(`${field} `)) return message;
  const rest = message.slice(field.length);
  if (field === "task_id") return `The run id${rest}`;
  if (field === "title") return `The title${rest}`;
  if (field === "query" || field === "topic" || field === "question") return `The question${rest}`;
  return `${flagOf(field)}${rest.replace(/ until\.$/, " --until.")}`;
}
