/** The command line: its parser and its help, made of the table of commands. */

import { type Argument, Command, CommanderError } from "commander";
import { readPackage } from "../app.ts";
import { disableColours } from "../config/environment.ts";
import { cleanText } from "../platform/clean-text.ts";
import { type CommandEntry, COMMANDS, OLD_SPELLINGS, OPERATE } from "./commands.ts";
import { COMPLETE } from "./completion-scripts.ts";
import { EXIT_CODES, print, printFailure, printText, printWithoutPager, showLog, wrappedFor } from "./output.ts";
import { calledName } from "./render/answer-view.ts";

export async function runCommand(argv: string[]): Promise<void> {
  // `--help | head` closes stdout early; that is not an error. Commands with more to do leave then.
  process.stdout.on("error", () => {});
  const program = createProgram();
  if (argv[0] === COMPLETE) {
    const { printCompletions } = await import("./completion.ts");
    return printCompletions(program, argv.slice(1));
  }
  program.showSuggestionAfterError(!isQuestion(program, argv));
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version are thrown too, with exit code 0.
    process.exitCode = error.exitCode === 0 ? 0 : EXIT_CODES.usage;
    if (error.code === "commander.unknownCommand") await suggestCommand(program);
    if (error.exitCode !== 0 && asksForJson(argv)) await print(usageError(error));
  }
}

/** Several words, the first of which is no mistyped command: commander would suggest `help` for `heat`. */
const isQuestion = (program: Command, argv: readonly string[]): boolean => {
  const [first = "", ...more] = argv.filter((word) => !word.startsWith("-"));
  return more.length > 0 && !program.commands.some((command) => isMistyping(first, command.name()));
};

const isMistyping = (typed: string, name: string): boolean => typed.length > 3 && differsByOneLetter(typed, name);

const differsByOneLetter = (one: string, other: string): boolean =>
  withoutOneLetter(one).some((part) => withoutOneLetter(other).includes(part));

const withoutOneLetter = (word: string): string[] => [
  word,
  ...Array.from(word, (_letter, index) => word.slice(0, index) + word.slice(index + 1)),
];

/** Several words that begin with no command are a question, unless the first is a mistyped command. */
async function suggestCommand(program: Command): Promise<void> {
  const [first = "", ...more] = program.args;
  const meant = program.commands.find((command) => isMistyping(first, command.name()));
  const question = cleanText(meant === undefined ? program.args.join(" ") : more.join(" ")).trim();
  if (meant !== undefined && question !== "")
    return printFailure(`Did you mean: ${calledName()} ${meant.name()} ${question}`);
  if (!/\s/.test(question)) return;
  const typed = NEEDS_QUOTES.test(question) ? `'${question.replaceAll("'", String.raw`'\''`)}'` : question;
  await printFailure(`To ask this question: ${calledName()} search ${typed}`);
}

/** What a shell takes for something else than words. */
const NEEDS_QUOTES = /[^\p{L}\p{M}\p{N}\s.,:_/-]/u;

const asksForJson = (argv: string[]): boolean => argv.slice(0, argv.indexOf("--") >>> 0).includes("--json");

/** The JSON of a wrong command line, for scripts that read JSON. */
function usageError({ message }: CommanderError): string {
  const name = calledName();
  const sentence = cleanText(message)
    .replace(/^error: /, "")
    .replaceAll(/\s+/g, " ");
  const suggestion = `Try: ${name} --help`;
  return JSON.stringify({ success: false, error: { code: "INVALID_INPUT", message: sentence, suggestion } }, null, 2);
}

export function createProgram(): Command {
  const { version } = readPackage();
  const name = calledName();
  const program = new Command(name)
    .description("Web research through Google Gemini: quick answers, verified research, full reports, all saved.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .option("--no-color", "disable colours")
    .option("--no-pager", "print long answers at once")
    .option("--verbose", "show log messages")
    .showHelpAfterError(`Try: ${name} --help`)
    .on("option:no-color", disableColours)
    .on("option:no-pager", printWithoutPager)
    .on("option:verbose", showLog)
    // A usage error quotes the arguments, which may come from elsewhere.
    .configureOutput({
      writeOut: printText,
      writeErr: (text) => void process.stderr.write(wrappedFor(process.stderr, text)),
      outputError: (text, write) => write(cleanText(text)),
    })
    .configureHelp({ subcommandTerm: termOf })
    .addHelpText("after", topHelp(name))
    .exitOverride();
  for (const entry of COMMANDS) addCommand(program, entry);
  for (const { path, now, define = definitionOf(now), description } of OLD_SPELLINGS) {
    const command = program
      .command(path, { hidden: true })
      .description(description ?? `Earlier spelling of: ${name} ${now}`);
    define(command);
    command.showHelpAfterError(`Try: ${name} ${path} --help`);
  }
  return program.addHelpCommand(
    new Command("help").argument("[command]").summary("Print the help of a command").helpGroup(OPERATE),
  );
}

function addCommand(program: Command, entry: CommandEntry): void {
  const { path, group, summary = "", description, examples, seeAlso = [] } = entry;
  const name = program.name();
  const [first = "", second] = path.split(" ");
  const parent = program.commands.find((other) => second !== undefined && other.name() === first) ?? program;
  const command = parent
    .command(second ?? first)
    .summary(summary)
    .description(description);
  if (parent === program) command.helpGroup(group);
  entry.define(command);
  const lines = [
    `\nExamples:\n${examples.map((line) => `  ${name} ${line}`).join("\n")}`,
    ...(seeAlso.length === 0 ? [] : [`\nSee also: ${seeAlso.join(", ")}`]),
  ];
  command.addHelpText("after", lines.join("\n")).showHelpAfterError(`Try: ${name} ${path} --help`);
}

const definitionOf = (path: string): CommandEntry["define"] =>
  COMMANDS.find((entry) => entry.path === path)?.define ?? (() => undefined);

/** All commands with their paths. */
export const commandsOf = (parent: Command, before: readonly string[] = []): { path: string; command: Command }[] =>
  parent.commands.flatMap((command) => {
    const words = [...before, command.name()];
    return [{ path: words.join(" "), command }, ...commandsOf(command, words)];
  });

const topHelp = (name: string): string => `
For <run>: the first characters of its id, words of its title, or last.
[run] is the newest by default.
Questions need no quotation marks.

Examples:
  ${name} search which heat pump is quietest
  ${name} research heat pumps in Norway and Finland
  ${name} <command> --help

Exit codes: 0 answered, 1 failed (the reason is on stderr; with --json, on
stdout too), 2 invalid command, flag or value, 130 interrupted.

Without a command, it runs as an MCP server on stdin and stdout; at a terminal
it shows what to do next.`;

/** Without `[options]`, which every command has. */
export const termOf = (command: Command): string =>
  [command.name(), ...command.registeredArguments.map(humanReadable)].join(" ");

function humanReadable(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}
