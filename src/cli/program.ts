/** The command line: every operation as a command, and the few commands that are not operations. */

import { Argument, Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { readPackage } from "../app.ts";
import type { Environment } from "../config.ts";
import { OPERATIONS } from "../operations/catalog.ts";
import type { Operation } from "../operations/operation.ts";
import { SETTINGS } from "../settings.ts";
import { print } from "./output.ts";
import { EXIT_CODES, runOperation } from "./run-operation.ts";

/** What the generated flags need to know of a parameter. */
const inputSchema = z.object({
  properties: z.record(
    z.string(),
    z.object({
      type: z.string().optional(),
      enum: z.array(z.string()).optional(),
      default: z.unknown().optional(),
      description: z.string().default(""),
    }),
  ),
});
type Property = z.infer<typeof inputSchema>["properties"][string];

const EXIT_HELP = `
Exit codes:
  0    the answer was printed
  1    it failed; the reason is on stderr, with --json also on stdout
  2    the command, a flag or its value is wrong
  130  interrupted

Without a command, gemini-search-mcp is an MCP server on stdin and stdout.`;

export async function runCommand(argv: string[]): Promise<void> {
  const program = createProgram();
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version end here too, with exit code 0.
    process.exitCode = error.exitCode === 0 ? 0 : EXIT_CODES.usage;
  }
}

function createProgram(): Command {
  const { name, version } = readPackage();
  const program = new Command(name)
    .description("Web research through Google Gemini: quick, checked, and stored so that nothing is lost.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .showHelpAfterError(`Try: ${name} --help`)
    .addHelpText("after", EXIT_HELP)
    .configureOutput({ writeOut: print })
    .exitOverride();
  for (const operation of OPERATIONS) addOperation(program, operation);
  program
    .command("worker")
    .description("Follow unfinished research with no client open, so that it is collected and you are notified.")
    .option("--until-idle", "leave when no unfinished research is left")
    .action(async (options: { untilIdle?: boolean }) => {
      const { runWorker } = await import("./worker.ts");
      await runWorker({ untilIdle: options.untilIdle === true });
    });
  addServe(program);
  program
    .command("doctor")
    .description("Check this installation: Node, database, Gemini CLI, key, network, notifications. Says what to do.")
    .option("--offline", "leave out what needs the network")
    .option("--json", "print the findings as JSON")
    .addHelpText("after", "\nExit code 1 when something must be repaired.")
    .action(async (options: { offline?: boolean; json?: boolean }) => {
      const { runDoctor } = await import("./doctor.ts");
      await runDoctor({ json: options.json === true, online: options.offline !== true });
    });
  program
    .command("demo")
    .description("Run a whole deep research against the built-in simulator: no key, no network, nothing is charged.")
    .argument("[question]", "what to research", "How do heat pumps perform in cold climates?")
    .action(async (question: string) => {
      const { runDemo } = await import("./demo.ts");
      await runDemo(question);
    });
  addTokenCommands(program);
  return program;
}

const TOKEN_HELP = `
A run belongs to the name whose token started it, and only that name sees it. A name that is
added again after a revoke gets its earlier runs back: do not give it to somebody else.`;

function addTokenCommands(program: Command): void {
  const token = program
    .command("token")
    .description("Who may use the server over HTTP besides you: each name has a token and runs of its own.")
    .addHelpText("after", TOKEN_HELP);
  const action = (name: string, about: string): Command =>
    token.command(name).description(about).option("--json", "print the answer as JSON");
  action("add", "Make a token for a name and print it, once.")
    .argument("<name>", "1 to 64 of a-z, 0-9, dot, underscore, hyphen")
    .addHelpText("after", TOKEN_HELP)
    .action(async (name: string, options: { json?: boolean }) => {
      const { addNamedToken } = await import("./token.ts");
      await addNamedToken(name, { json: options.json === true });
    });
  action("list", "Print who has a token, since when, and when it was last used; never the token.").action(
    async (options: { json?: boolean }) => {
      const { listNamedTokens } = await import("./token.ts");
      await listNamedTokens({ json: options.json === true });
    },
  );
  action("revoke", "Refuse the token of a name from now on, on running servers too.")
    .argument("<name>", "whose token")
    .action(async (name: string, options: { json?: boolean }) => {
      const { revokeNamedToken } = await import("./token.ts");
      await revokeNamedToken(name, { json: options.json === true });
    });
}

function addServe(program: Command): void {
  program
    .command("serve")
    .description("Serve the tools over HTTP (MCP Streamable HTTP at /mcp) to many clients at a time.")
    .addOption(settingOption(SETTINGS.MCP_SERVER_HOST, "--host <address>"))
    .addOption(settingOption(SETTINGS.MCP_SERVER_PORT, "--port <n>"))
    .option("--no-auth", "ask for no token; on a loopback address only")
    .exitOverride()
    .action(async ({ host, port, auth }: { host?: string; port?: string; auth: boolean }) => {
      const { runServe } = await import("./serve.ts");
      await runServe({ flags: { MCP_SERVER_HOST: host, MCP_SERVER_PORT: port }, auth });
    });
}

/** A wrong flag is a mistake to be told, where a wrong variable falls back to its default. */
function settingOption({ schema, about }: { schema: z.ZodType; about: string }, flags: string): Option {
  return new Option(flags, about).argParser((text: string) => {
    if (!schema.safeParse(text).success) throw new InvalidArgumentError("It is not a possible value.");
    return text;
  });
}

function addOperation(program: Command, operation: Operation): void {
  const { properties } = inputSchema.parse(z.toJSONSchema(operation.input, { io: "input" }));
  const command = program
    .command(kebab(operation.name))
    .summary(operation.title)
    .description(operation.description)
    .addHelpText("after", EXIT_HELP)
    .exitOverride();
  for (const [name, property] of Object.entries(properties)) {
    if (name === operation.positional) {
      command.addArgument(new Argument(`<${kebab(name)}>`, `${property.description} "-" reads it from stdin.`));
    } else {
      command.addOption(optionFor(name, property));
    }
  }
  if (operation.asksBackend === true) addSettingFlags(command);
  const { waitFlag } = operation;
  if (waitFlag !== undefined)
    command.option(`--${waitFlag}`, "stay until the run ends, show its progress, print its report");
  if (operation.question !== undefined) command.option("--yes", "agree to the cost beforehand: nothing is asked");
  command.option("--json", "print the whole answer as JSON");
  command.action(async (...values: unknown[]) => {
    const given = command.opts<Record<string, unknown>>();
    const positional = operation.positional === undefined ? {} : { [operation.positional]: values[0] };
    const input = Object.fromEntries(
      Object.keys(properties).flatMap((name) => {
        const value = given[camel(name)];
        return value === undefined ? [] : [[name, value]];
      }),
    );
    await runOperation(operation, {
      input: { ...input, ...positional },
      json: given["json"] === true,
      yes: given["yes"] === true,
      wait: waitFlag !== undefined && given[waitFlag] === true,
      flags: operation.asksBackend === true ? settingFlags(given) : {},
    });
  });
}

function optionFor(name: string, property: Property): Option {
  const flag = kebab(name);
  const about = property.description;
  if (property.type === "boolean") return new Option(property.default === true ? `--no-${flag}` : `--${flag}`, about);
  const option = new Option(`--${flag} <${property.type === "integer" ? "n" : "value"}>`, about);
  if (property.enum !== undefined) option.choices(property.enum);
  if (property.type === "integer") option.argParser((text: string) => (/^-?\d+$/.test(text) ? Number(text) : text));
  return option;
}

const FLAG_SETTINGS = Object.entries(SETTINGS).flatMap(([name, setting]) =>
  "flag" in setting && setting.flag !== undefined ? [{ name, flag: setting.flag, setting }] : [],
);

function addSettingFlags(command: Command): void {
  for (const { flag, setting } of FLAG_SETTINGS) command.addOption(settingOption(setting, `--${flag} <value>`));
}

const settingFlags = (given: Record<string, unknown>): Environment =>
  Object.fromEntries(FLAG_SETTINGS.map(({ name, flag }) => [name, given[flag]?.toString()]));

const kebab = (name: string): string => name.replaceAll("_", "-");
const camel = (name: string): string => name.replaceAll(/_(\w)/g, (_whole, letter: string) => letter.toUpperCase());
