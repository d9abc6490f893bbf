/** What people at a terminal call the parameters of operations. */

/** Flags of lists name one entry. */
const FLAGS: Readonly<Record<string, string>> = {
  files: "file",
  urls: "url",
  file_search_stores: "store",
  mcp_servers: "mcp",
  numbers: "source",
  columns: "column",
  budget_usd: "budget",
  enable_notifications: "notification",
  include_sources: "sources",
  max_iterations: "rounds",
};

/** Flags of earlier versions, which scripts may still use. They are not listed. */
const OLD_FLAGS: Readonly<Record<string, string>> = {
  enable_notifications: "enable-notifications",
  include_sources: "include-sources",
  max_iterations: "max-iterations",
};

export const oldFlagOf = (parameter: string): string | undefined => OLD_FLAGS[parameter];

/** Parameters that are typed without a flag. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  task_id: "The run id",
  schedule_id: "The schedule",
  title: "The title",
  query: "The question",
  topic: "The question",
  question: "The question",
};

const kebab = (name: string): string => name.replaceAll("_", "-");

/** Without the hyphens in front. */
export const flagOf = (parameter: string): string => FLAGS[parameter] ?? kebab(parameter);

/** At the beginning of a sentence. */
export const typedName = (parameter: string): string => ARGUMENTS[parameter] ?? `--${flagOf(parameter)}`;
