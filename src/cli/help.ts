/** `--help`: the facts of each command, its exit codes, and the text around the list of commands. */

import { type Argument, Command } from "commander";
import { COMMAND_FACTS, SET_UP } from "./command-facts.ts";

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
    const facts = COMMAND_FACTS[path];
    if (facts === undefined) throw new Error(`The command ${path} has no facts.`);
    command.summary(facts.summary ?? "").description(facts.description);
    if (command.parent === program) command.helpGroup(facts.group);
    const examples = `\nExamples:\n${facts.examples.map((line) => `  ${name} ${line}`).join("\n")}`;
    const others = facts.seeAlso === undefined ? "" : `\nSee also: ${facts.seeAlso.join(", ")}`;
    const exits = printsAnswer(command) ? EXIT_HELP : "";
    command.addHelpText("after", [examples, exits, others].filter((part) => part !== "").join("\n"));
    command.showHelpAfterError(`Try: ${name} ${path} --help`);
  }
}

/** Without `[options]`, which every command has. */
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
