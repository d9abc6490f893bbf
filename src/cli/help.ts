/** Texts of `--help` beyond the flags: groups, examples and related commands. */

import { Command } from "commander";

interface CommandHelp {
  group: string;
  examples: string[];
  /** For the list of commands, where the description is longer than a line. */
  summary?: string;
  /** Related commands. */
  seeAlso?: string[];
}

const ASK = "Ask:";
const RESEARCH = "Deep research:";
const READ = "Read what was found:";
const SERVE = "Serve and follow:";
const SET_UP = "Set up:";

const ID = "3f2a9c1e";

/** By command path; a command without an entry has no examples and is in the group "Other". */
export const COMMAND_HELP: Record<string, CommandHelp> = {
  search: {
    group: ASK,
    examples: ['search "What is the newest LTS version of Node.js?"', "search - --json < question.txt"],
    seeAlso: ["deep-search", "find"],
  },
  "deep-search": {
    group: ASK,
    examples: ['deep-search "How do heat pumps perform in cold climates?" --max-iterations 3'],
    seeAlso: ["search", "start-deep-research"],
  },
  "deep-research": {
    group: ASK,
    examples: ['deep-research "Heat pumps in cold climates" --depth concise'],
    seeAlso: ["start-deep-research"],
  },
  "estimate-research-cost": {
    group: RESEARCH,
    examples: ['estimate-research-cost "Heat pumps in Norway and Finland"'],
    seeAlso: ["start-deep-research", "figures"],
  },
  "start-deep-research": {
    group: RESEARCH,
    examples: [
      'start-deep-research "Heat pumps in Norway and Finland" --wait',
      'start-deep-research "Heat pumps in Norway and Finland" --yes --json',
    ],
    seeAlso: ["watch", "estimate-research-cost", "cancel-research"],
  },
  watch: { group: RESEARCH, examples: [`watch ${ID}`], seeAlso: ["check-research-status", "cancel-research"] },
  "check-research-status": {
    group: RESEARCH,
    examples: [`check-research-status ${ID}`, `check-research-status ${ID} --wait-seconds 45 --json`],
    seeAlso: ["watch", "get-research-results"],
  },
  "cancel-research": { group: RESEARCH, examples: [`cancel-research ${ID}`], seeAlso: ["resume-research"] },
  "resume-research": {
    group: RESEARCH,
    examples: [`resume-research ${ID}`, `resume-research ${ID} --interaction-id v1_abc`],
    seeAlso: ["list-research", "check-research-status"],
  },
  "list-research": {
    group: READ,
    examples: ["list-research", "list-research --status running_async --limit 100 --json"],
    seeAlso: ["find", "get-research-results"],
  },
  find: { group: READ, examples: ["find heat pump", 'find "cold climates" --json'], seeAlso: ["get-research-results"] },
  "get-research-results": {
    group: READ,
    examples: [`get-research-results ${ID}`, `get-research-results ${ID} --section outline`],
    seeAlso: ["save-research-to-markdown", "list-research"],
  },
  "save-research-to-markdown": {
    group: READ,
    examples: [`save-research-to-markdown ${ID}`, `save-research-to-markdown ${ID} --output-dir reports`],
    seeAlso: ["get-research-results"],
  },
  delete: {
    group: RESEARCH,
    examples: ["delete 3f2a9c1e", "delete 3f2a9c1e --at-google --yes"],
    seeAlso: ["cancel-research"],
  },
  figures: { group: READ, examples: ["figures", "figures --json"], seeAlso: ["estimate-research-cost"] },
  serve: {
    summary: "Serve the tools over HTTP",
    group: SERVE,
    examples: ["serve", "serve --port 3100"],
    seeAlso: ["token", "worker"],
  },
  dashboard: {
    summary: "Open the dashboard in the browser",
    group: SERVE,
    examples: ["dashboard", "dashboard --no-open --json"],
    seeAlso: ["serve"],
  },
  worker: {
    summary: "Follow runs, no client open",
    group: SERVE,
    examples: ["worker", "worker --until-idle"],
    seeAlso: ["list-research"],
  },
  status: {
    summary: "Show workers and polls",
    group: SERVE,
    examples: ["status", "status --json"],
    seeAlso: ["worker", "doctor"],
  },
  token: {
    summary: "Who else may use the server",
    group: SERVE,
    examples: ["token add anna", "token list"],
    seeAlso: ["serve"],
  },
  "token add": { group: SERVE, examples: ["token add anna"] },
  "token list": { group: SERVE, examples: ["token list --json"] },
  "token revoke": { group: SERVE, examples: ["token revoke anna"] },
  init: {
    summary: "Connect your AI assistant",
    group: SET_UP,
    examples: ["init", "init claude-code codex --yes", "init --dry-run"],
    seeAlso: ["doctor"],
  },
  migrate: {
    summary: "Move the state to PostgreSQL",
    group: SET_UP,
    examples: ["migrate --dry-run", "migrate --to -"],
    seeAlso: ["doctor"],
  },
  doctor: {
    summary: "Check this installation",
    group: SET_UP,
    examples: ["doctor", "doctor --offline --json"],
    seeAlso: ["demo"],
  },
  demo: { summary: "Try it without a key", group: SET_UP, examples: ["demo"], seeAlso: ["doctor"] },
  completion: {
    group: SET_UP,
    examples: ["completion bash", "completion zsh", "completion fish"],
  },
};

const EXIT_HELP = `
Exit codes:
  0    the answer was printed
  1    it failed; the reason is on stderr, with --json also on stdout
  2    the command, a flag or its value is wrong
  130  interrupted`;

const TOP_HELP = `
A <task-id> can be shortened to its first 6 or more characters.
Colours only on a terminal: --no-color and NO_COLOR turn them off.

Examples:
  gemini-search-mcp search "What is the newest LTS version of Node.js?"
  gemini-search-mcp start-deep-research "Heat pumps in Norway and Finland" --wait
  gemini-search-mcp <command> --help
${EXIT_HELP}

Without a command, it is an MCP server on stdin and stdout; at a terminal it says what to do next.`;

/** Called after all commands have been added. */
export function addHelp(program: Command): void {
  const name = program.name();
  program.addHelpText("after", TOP_HELP);
  program.addHelpCommand(
    new Command("help").argument("[command]").summary("Print the help of a command").helpGroup(SET_UP),
  );
  for (const { path, command } of commandsOf(program)) {
    const { group, examples, summary = "", seeAlso = [] } = COMMAND_HELP[path] ?? { group: "Other:", examples: [] };
    if (command.parent === program) command.helpGroup(group);
    if (command.summary() === "") command.summary(summary);
    const shown =
      examples.length === 0 ? "" : `\nExamples:\n${examples.map((line) => `  ${name} ${line}`).join("\n")}\n`;
    const others = seeAlso.length === 0 ? "" : `\nSee also: ${seeAlso.join(", ")}`;
    command.addHelpText("after", `${shown}${EXIT_HELP}${others === "" ? "" : `\n${others}`}`);
    command.showHelpAfterError(`Try: ${name} ${path} --help`);
  }
}

/** All commands with their paths. */
export function commandsOf(parent: Command, before: string[] = []): { path: string; command: Command }[] {
  return parent.commands.flatMap((command) => {
    const words = [...before, command.name()];
    return [{ path: words.join(" "), command }, ...commandsOf(command, words)];
  });
}
