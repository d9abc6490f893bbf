/** Texts of `--help` beyond the flags: groups, examples and related commands. */

import { type Argument, Command } from "commander";

interface CommandHelp {
  group: string;
  examples: string[];
  /** For the list of commands, where the description is longer than a line. */
  summary?: string;
  /** Related commands. */
  seeAlso?: string[];
}

const ASK = "Ask:";
const RESEARCH = "Long research:";
const READ = "Your research:";
const SERVE = "Serve:";
const SET_UP = "Set up:";

const ID = "3f2a9c1e";

/** By command path; a command without an entry has no examples and is in the group "Other". */
export const COMMAND_HELP: Record<string, CommandHelp> = {
  ask: {
    group: ASK,
    examples: ["ask which heat pump is quietest", "ask - --json < question.txt"],
    seeAlso: ["verify", "find"],
  },
  verify: {
    group: ASK,
    examples: ["verify how do heat pumps perform in cold climates --max-iterations 3"],
    seeAlso: ["ask", "research"],
  },
  "deep-research": {
    group: RESEARCH,
    examples: ['deep-research "Heat pumps in cold climates" --depth concise'],
    seeAlso: ["verify", "research"],
  },
  estimate: {
    group: RESEARCH,
    examples: ["estimate heat pumps in Norway and Finland"],
    seeAlso: ["research", "figures"],
  },
  research: {
    group: ASK,
    examples: ["research heat pumps in Norway --no-wait", "research --file offer.pdf is this a fair price"],
    seeAlso: ["watch", "estimate", "stop"],
  },
  "start-deep-research": {
    group: RESEARCH,
    examples: [
      'start-deep-research "Heat pumps in Norway and Finland" --wait',
      'start-deep-research "Heat pumps in Norway and Finland" --yes --json',
    ],
    seeAlso: ["research", "watch", "stop"],
  },
  watch: { group: RESEARCH, examples: [`watch ${ID}`], seeAlso: ["show", "stop"] },
  "check-research-status": {
    group: RESEARCH,
    examples: [`check-research-status ${ID}`, `check-research-status ${ID} --wait-seconds 45 --json`],
    seeAlso: ["watch", "show"],
  },
  stop: { group: RESEARCH, examples: [`stop ${ID}`], seeAlso: ["resume", "delete"] },
  plan: {
    group: RESEARCH,
    examples: [`plan ${ID}`, `plan ${ID} --edit "leave out Asia"`],
    seeAlso: ["approve", "stop"],
  },
  approve: {
    group: RESEARCH,
    examples: [`approve ${ID}`, `approve ${ID} --no-wait --yes`],
    seeAlso: ["plan", "watch"],
  },
  resume: {
    group: RESEARCH,
    examples: [`resume ${ID}`, `resume ${ID} --interaction-id v1_abc`],
    seeAlso: ["list", "watch"],
  },
  list: {
    group: READ,
    examples: ["list", "list --status completed --limit 100", "list --starred", "list --archived", "list | cut -f1,6"],
    seeAlso: ["find", "show", "archive"],
  },
  find: { group: READ, examples: ["find heat pump", 'find "cold climates" --json'], seeAlso: ["show"] },
  show: {
    group: READ,
    examples: [`show ${ID}`, `show ${ID} --section outline`],
    seeAlso: ["save", "open", "list"],
  },
  followup: {
    group: ASK,
    examples: [`followup ${ID} and what about apartments`, `followup ${ID} "Which of these is cheapest?" --json`],
    seeAlso: ["show", "research"],
  },
  check: {
    group: READ,
    examples: [`check ${ID}`, `check ${ID} --source 3 --refetch`],
    seeAlso: ["show", "save"],
  },
  table: {
    group: ASK,
    examples: [
      `table ${ID} Maker Price "Noise at night" --rows "one row per heat pump"`,
      `table ${ID} Maker Price --csv > pumps.csv`,
    ],
    seeAlso: ["followup", "save"],
  },
  save: {
    group: READ,
    examples: [`save ${ID}`, `save ${ID} --output-dir reports`, `save ${ID} --format bibtex`],
    seeAlso: ["show"],
  },
  rename: {
    group: READ,
    examples: [`rename ${ID} heat pumps for our house`, `rename ${ID} ""`],
    seeAlso: ["star", "archive"],
  },
  star: { group: READ, examples: [`star ${ID}`], seeAlso: ["unstar", "list"] },
  unstar: { group: READ, examples: [`unstar ${ID}`], seeAlso: ["star"] },
  archive: { group: READ, examples: [`archive ${ID}`], seeAlso: ["unarchive", "list", "delete"] },
  unarchive: { group: READ, examples: [`unarchive ${ID}`], seeAlso: ["archive"] },
  delete: {
    group: READ,
    examples: [`delete ${ID}`, `delete ${ID} --at-google --yes`],
    seeAlso: ["archive", "stop"],
  },
  figures: { group: READ, examples: ["figures", "figures --json"], seeAlso: ["estimate"] },
  serve: {
    summary: "Serve MCP over HTTP",
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
  open: {
    summary: "Open a run in the browser",
    group: READ,
    examples: ["open", `open ${ID}`],
    seeAlso: ["show", "dashboard"],
  },
  worker: {
    summary: "Collect results in the background",
    group: SERVE,
    examples: ["worker", "worker --until-idle"],
    seeAlso: ["list"],
  },
  status: {
    summary: "Show workers and polls",
    group: SERVE,
    examples: ["status", "status --json"],
    seeAlso: ["worker", "doctor"],
  },
  token: {
    summary: "Manage access tokens",
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
    summary: "Migrate to PostgreSQL",
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
  1    it failed; the reason is on stderr (with --json, on stdout too)
  2    invalid command, flag or value
  130  interrupted`;

const TOP_HELP = `
For <run>, the first 6 characters of its id are enough. Questions need no quotation marks.

Examples:
  gemini-search-mcp ask which heat pump is quietest
  gemini-search-mcp research heat pumps in Norway and Finland
  gemini-search-mcp <command> --help
${EXIT_HELP}

Without a command, it runs as an MCP server on stdin and stdout; at a terminal it shows what to do next.`;

/** Called after all commands have been added. */
export function addHelp(program: Command): void {
  const name = program.name();
  program.addHelpText("after", TOP_HELP);
  program.configureHelp({ subcommandTerm: termOf });
  program.addHelpCommand(
    new Command("help").argument("[command]").summary("Print the help of a command").helpGroup(SET_UP),
  );
  for (const { path, command } of commandsOf(program)) {
    const { group, examples, summary = "", seeAlso = [] } = COMMAND_HELP[path] ?? { group: "Other:", examples: [] };
    if (command.parent === program) command.helpGroup(group);
    if (command.summary() === "") command.summary(summary);
    const shown = examples.length === 0 ? "" : `\nExamples:\n${examples.map((line) => `  ${name} ${line}`).join("\n")}`;
    const others = seeAlso.length === 0 ? "" : `\nSee also: ${seeAlso.join(", ")}`;
    const exits = printsAnswer(command) ? EXIT_HELP : "";
    command.addHelpText("after", [shown, exits, others].filter((part) => part !== "").join("\n"));
    command.showHelpAfterError(`Try: ${name} ${path} --help`);
  }
}

/** Without `[options]`, which every command has, and without its long name, which its own help shows. */
const termOf = (command: Command): string =>
  [command.name(), ...command.registeredArguments.map(humanReadable)].join(" ");

function humanReadable(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** Exit codes are explained only for commands that print an answer and exit. */
const printsAnswer = (command: Command): boolean =>
  command.options.some(({ long }) => long === "--json") && !WITHOUT_EXIT_CODES.has(command.name());

/** They open a browser, or have exit codes of their own. */
const WITHOUT_EXIT_CODES = new Set(["dashboard", "open", "status", "init", "migrate"]);

/** All commands with their paths. */
export function commandsOf(parent: Command, before: string[] = []): { path: string; command: Command }[] {
  return parent.commands.flatMap((command) => {
    const words = [...before, command.name()];
    return [{ path: words.join(" "), command }, ...commandsOf(command, words)];
  });
}
