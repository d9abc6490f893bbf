/** The command line: a command per operation, and the commands that are not operations. */

import { Argument, Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { readPackage } from "../app.ts";
import { disableColours } from "../config/config.ts";
import { type Profile, profileSchema } from "../config/profiles.ts";
import { SETTINGS } from "../config/settings.ts";
import { cleanText } from "../platform/clean-text.ts";
import { CLIENTS } from "../setup/clients.ts";
import type { InitOptions } from "./init/entries.ts";
import { addCompletion } from "./completion/completion.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { addHelp } from "./help.ts";
import { settingOption } from "./operation-command.ts";
import { addOperations } from "./operation-commands.ts";
import { print } from "./output.ts";
import { addRunCommands } from "./commands/run-commands.ts";
import { showLog } from "./verbosity.ts";
import { RUN_ARGUMENT } from "./task-id.ts";

export async function runCommand(argv: string[]): Promise<void> {
  // `--help | head` closes stdout early; that is not an error. Commands with more to do leave then.
  process.stdout.on("error", () => {});
  const program = createProgram();
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version are thrown too, with exit code 0.
    process.exitCode = error.exitCode === 0 ? 0 : EXIT_CODES.usage;
    if (error.exitCode !== 0 && asksForJson(argv)) await print(usageError(error));
  }
}

const asksForJson = (argv: string[]): boolean => argv.slice(0, argv.indexOf("--") >>> 0).includes("--json");

/** The JSON of a wrong command line, for scripts that read JSON. */
function usageError({ message }: CommanderError): string {
  const { name } = readPackage();
  const sentence = cleanText(message)
    .replace(/^error: /, "")
    .replaceAll(/\s+/g, " ");
  const suggestion = `Try: ${name} --help`;
  return JSON.stringify({ success: false, error: { code: "INVALID_INPUT", message: sentence, suggestion } }, null, 2);
}

export function createProgram(): Command {
  const { name, version } = readPackage();
  const program = new Command(name)
    .description("Web research through Google Gemini: quick answers, verified research, full reports, all saved.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .option("--no-color", "disable colours")
    .option("--verbose", "show log messages")
    .showHelpAfterError(`Try: ${name} --help`)
    .on("option:no-color", disableColours)
    .on("option:verbose", showLog)
    // A usage error quotes the arguments, which may come from elsewhere.
    .configureOutput({ writeOut: print, outputError: (text, write) => write(cleanText(text)) })
    .exitOverride();
  addOperations(program);
  addRunCommands(program);
  program
    .command("worker")
    .option("--until-idle", "exit when all runs have finished")
    .action(async (options: { untilIdle?: boolean }) => {
      const { runWorker } = await import("./commands/worker.ts");
      await runWorker({ untilIdle: options.untilIdle === true });
    });
  addServe(program);
  program
    .command("status")
    .option("--json", "print the status as JSON")
    .addHelpText("after", "\nExits 1 if runs are late or not polled at all, so you can use it as a health check.")
    .action(async (options: { json?: boolean }) => {
      const { printStatus } = await import("./commands/status.ts");
      await printStatus({ json: options.json === true });
    });
  program
    .command("doctor")
    .option("--offline", "skip the checks that need the network")
    .option("--json", "print the findings as JSON")
    .addHelpText("after", "\nExits 1 if something must be fixed.")
    .action(async (options: { offline?: boolean; json?: boolean }) => {
      const { runDoctor } = await import("./commands/doctor.ts");
      await runDoctor({ json: options.json === true, online: options.offline !== true });
    });
  addDemo(program);
  addInit(program);
  addTokenCommands(program);
  addMigrate(program);
  addCompletion(program);
  addHelp(program);
  return program;
}

function addDemo(program: Command): void {
  program
    .command("demo")
    .argument("[question...]", "a question of your own; its report is invented")
    .option("--no-open", "print the link to the dashboard instead of opening it")
    .action(async (words: string[], { open }: { open: boolean }) => {
      const { DEMO_QUESTION, runDemo } = await import("./commands/demo.ts");
      await runDemo(words.length === 0 ? DEMO_QUESTION : words.join(" "), { open });
    });
}

function addInit(program: Command): void {
  const clients = CLIENTS.map(({ name }) => name);
  program
    .command("init")
    .addArgument(new Argument("[clients...]", "which ones; default: all that are found").choices(clients))
    .option("--yes", "write without asking")
    .option("--dry-run", "preview the changes")
    .option("--remove", "disconnect instead")
    .option("--http", "connect to a running server by its URL instead of starting one")
    .option("--url <url>", "with --http: the URL, if it is not the configured one", httpUrl)
    .option("--save-key", "save GEMINI_API_KEY in config.json, readable only by you, so that every client finds it")
    .option("--write-token", "with --http: write the token itself instead of a reference to MCP_AUTH_TOKEN")
    .addOption(
      new Option("--scope <scope>", "for you or for this project only").choices(["user", "project"]).default("user"),
    )
    .option("--name <entry>", "name of the entry", entryName, "gemini-search")
    .option("--json", "print the outcome as JSON, without asking")
    .exitOverride()
    .action(async (names: string[], given: Partial<InitOptions> & Pick<InitOptions, "scope" | "name">) => {
      const { runInit } = await import("./init/init.ts");
      const off = {
        yes: false,
        dryRun: false,
        json: false,
        remove: false,
        http: false,
        writeToken: false,
        saveKey: false,
      };
      await runInit({ ...off, ...given, clients: names });
    });
}

/** Characters that every client accepts; some make the name part of the tool names. */
function entryName(text: string): string {
  if (!/^[\w-]{1,64}$/.test(text))
    throw new InvalidArgumentError("Use 1 to 64 letters, digits, underscores or hyphens.");
  return text;
}

function httpUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:\/\//.test(text))
    throw new InvalidArgumentError("Use a URL that starts with http:// or https://.");
  return text;
}

const TOKEN_HELP = `
A run belongs to the name whose token started it, and no other name can see it.
A name that you revoke and add again has access to its former runs, so do not
give it to another person.`;

function addTokenCommands(program: Command): void {
  const token = program.command("token").addHelpText("after", TOKEN_HELP);
  const action = (name: string): Command => token.command(name).option("--json", "print the answer as JSON");
  action("add")
    .argument("<name>", "1 to 64 of a-z, 0-9, dot, underscore, hyphen")
    .addHelpText("after", TOKEN_HELP)
    .action(async (name: string, options: { json?: boolean }) => {
      const { addNamedToken } = await import("./commands/token.ts");
      await addNamedToken(name, { json: options.json === true });
    });
  action("list").action(async (options: { json?: boolean }) => {
    const { listNamedTokens } = await import("./commands/token.ts");
    await listNamedTokens({ json: options.json === true });
  });
  action("revoke")
    .argument("<name>", "the name whose token is revoked")
    .action(async (name: string, options: { json?: boolean }) => {
      const { revokeNamedToken } = await import("./commands/token.ts");
      await revokeNamedToken(name, { json: options.json === true });
    });
}

interface DashboardFlags {
  host?: string;
  port?: string;
  run?: string;
  open: boolean;
  json?: boolean;
}

const MIGRATE_HELP = `
First stop the servers and workers that use the file. If the migration is interrupted, nothing was
copied: run the command again. Other users of this machine can read command arguments, so set
GEMINI_SEARCH_DATABASE_URL, or pass the URL on stdin with --to -.`;

function addMigrate(program: Command): void {
  program
    .command("migrate")
    .option("--from <file>", "the database file (default: the one in use)")
    .option("--to <url>", "postgres://user:password@host/database, or -; unset: GEMINI_SEARCH_DATABASE_URL")
    .addOption(new Option("--dry-run", "only count").conflicts("verify"))
    .option("--verify", "only compare, row by row; exits 1 if they differ")
    .option("--force", "migrate even if other processes seem to use the file or the target")
    .option("--json", "print the answer as JSON")
    .addHelpText("after", MIGRATE_HELP)
    .exitOverride()
    .action(async ({ dryRun, verify, force, json, ...databases }: Record<string, string | boolean | undefined>) => {
      const { runMigrate } = await import("./commands/migrate.ts");
      const does = dryRun === true ? "count" : verify === true ? "compare" : "move";
      const { from, to } = z.object({ from: z.string().optional(), to: z.string().optional() }).parse(databases);
      await runMigrate({ from, to, does, force: force === true, json: json === true });
    });
}

function addServe(program: Command): void {
  program
    .command("serve")
    .addOption(settingOption(SETTINGS.MCP_SERVER_HOST, "--host <address>"))
    .addOption(settingOption(PORT, "--port <n>"))
    .addOption(settingOption(PROFILE, "--profile <name>"))
    .option("--no-auth", "run without tokens (loopback only)")
    .option("--open", "open the dashboard in the browser")
    .exitOverride()
    .action(async ({ host, port, profile, auth, open }: ServeFlags) => {
      const { pageOnTerminal, runServe } = await import("./commands/serve.ts");
      const page = pageOnTerminal({ open: open === true });
      await runServe({ flags: { MCP_SERVER_HOST: host, MCP_SERVER_PORT: port }, profile, auth, page });
    });
  program
    .command("dashboard")
    .addOption(settingOption(SETTINGS.MCP_SERVER_HOST, "--host <address>"))
    .addOption(settingOption(PORT, "--port <n>"))
    .addOption(settingOption({ schema: () => RUN_ID, about: "show this run first", wrong: NOT_A_RUN }, "--run <run>"))
    .option("--no-open", "print the link instead of opening it (single use, valid two minutes)")
    .option("--json", "print the answer as JSON")
    .exitOverride()
    .action(async ({ run, ...flags }: DashboardFlags) => openDashboard(run, flags));
  program
    .command("open")
    .addArgument(new Argument("[run]", RUN_ARGUMENT).argParser(runId))
    .addOption(settingOption(SETTINGS.MCP_SERVER_HOST, "--host <address>"))
    .addOption(settingOption(PORT, "--port <n>"))
    .option("--no-open", "print the link instead of opening it (single use, valid two minutes)")
    .option("--json", "print the answer as JSON")
    .exitOverride()
    .action(openDashboard);
}

interface ServeFlags {
  host?: string;
  port?: string;
  profile?: Profile;
  auth: boolean;
  open?: boolean;
}

const PROFILE = {
  schema: () => profileSchema,
  about: "tools in the shape that one client expects: chatgpt",
  wrong: "The profile must be chatgpt.",
};

const PORT = { ...SETTINGS.MCP_SERVER_PORT, wrong: "Port must be a number from 0 to 65535." };

/** Completed in the database later; here only what can never be one is rejected. */
const RUN_ID = z.string().regex(/^[0-9a-f][0-9a-f-]{5,35}$/i);
const NOT_A_RUN = "Enter a full run id or at least its first 6 characters.";

function runId(text: string): string {
  if (!RUN_ID.safeParse(text).success) throw new InvalidArgumentError(NOT_A_RUN);
  return text;
}

async function openDashboard(run: string | undefined, flags: Omit<DashboardFlags, "run">): Promise<void> {
  const { runDashboard } = await import("./commands/dashboard.ts");
  const { host, port, open, json = false } = flags;
  await runDashboard({ flags: { MCP_SERVER_HOST: host, MCP_SERVER_PORT: port }, run, open, json });
}
