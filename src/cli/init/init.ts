/** `init`: adds this server to the configuration of clients, or removes it, after showing the change. */

import { homedir } from "node:os";
import { type Config, loadConfig, readEnvironment } from "../../config/config.ts";
import { AppError } from "../../errors.ts";
import { createRedactor } from "../../platform/redact.ts";
import { type Client, CLIENTS, installedClients } from "../../setup/clients.ts";
import { checkHome } from "../../setup/paths.ts";
import type { Plan } from "../../setup/plan.ts";
import { writePlan, type WriteResult } from "../../setup/write-plan.ts";
import { type ClientChange, clientChange, type InitOptions, invalid, prepareSetup, type Setup } from "./entries.ts";
import { type Outcome, outcomeText, remarksFor } from "./text.ts";
import { print, printFailure } from "../output.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { printError } from "../print-error.ts";

/** The user aborted a question. */
class Aborted extends Error {}

export async function runInit(options: InitOptions): Promise<void> {
  // `| head` closes stdout early; that is not an error.
  process.stdout.on("error", () => undefined);
  try {
    checkHome(homedir);
    const config = loadConfig({ environment: readEnvironment() });
    process.exitCode = await setUp(options, config);
  } catch (error) {
    process.exitCode = error instanceof Aborted ? EXIT_CODES.interrupted : await printError(error, options.json);
  }
}

async function setUp(options: InitOptions, config: Config): Promise<number> {
  const setup = prepareSetup(options, config);
  const redact = createRedactor({ ...config.secrets, token: setup.token });
  const canAsk = !options.yes && !options.dryRun && !options.json && process.stdin.isTTY && process.stderr.isTTY;
  const entries = await Promise.all(chosenClients(setup).map((client) => planFor(client, setup)));
  if (
    !canAsk &&
    !options.yes &&
    !options.dryRun &&
    entries.some(({ plan }) => plan !== undefined && plan.diff !== "")
  ) {
    throw confirmationNeeded(entries);
  }
  const wanted = canAsk && options.clients.length === 0 ? await choose(entries, options) : entries;
  const { outcomes, aborted: abortedEarly } = await applyAll(wanted, { setup, canAsk, redact });
  const decided = canAsk && !abortedEarly ? await decide(options, config) : [];
  const remarks = [...remarksFor(outcomes, { setup, config }), ...(decided ?? [])];
  const aborted = abortedEarly || decided === undefined;
  const success = outcomes.every(({ error }) => error === undefined);
  if (options.json) await print(JSON.stringify({ success, clients: outcomes, remarks }, null, 2));
  else await print(outcomeText(outcomes, { remarks, diffs: !canAsk }));
  if (aborted) return EXIT_CODES.interrupted;
  return success ? EXIT_CODES.ok : EXIT_CODES.failed;
}

/** Asks about source links only for servers that clients start here: an HTTP server has an operator of its own. */
async function decide({ remove, http }: InitOptions, config: Config): Promise<string[] | undefined> {
  if (remove || http || !config.configDirWritable) return [];
  const { decideSourceLinks } = await import("./source-links.ts");
  return decideSourceLinks(config);
}

function chosenClients(setup: Setup): Client[] {
  const { clients: names } = setup.options;
  if (names.length > 0) return CLIENTS.filter(({ name }) => names.includes(name));
  const here = installedClients(setup.place).filter(
    (client) => client.file(setup.place, setup.options.scope) !== undefined,
  );
  if (here.length > 0) return here;
  const known = CLIENTS.map(({ name }) => name).join(", ");
  throw invalid("No client that init knows was found for this user.", `Name one to set it up anyway: ${known}.`);
}

/** The planned change for one client, or its error, which does not stop the others. */
interface PlannedClient {
  client: Client;
  change?: ClientChange;
  plan?: Plan;
  error?: AppError;
}

async function planFor(client: Client, setup: Setup): Promise<PlannedClient> {
  try {
    const change = clientChange(client, setup);
    return { client, change, plan: await change.plan() };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { client, error };
  }
}

async function choose(entries: PlannedClient[], { remove }: InitOptions): Promise<PlannedClient[]> {
  const { chooseClients } = await import("./terminal.ts");
  const choices = entries.map(({ client, change, plan, error }) => ({
    value: client.name,
    label: `${client.title} (${plan?.state ?? "cannot be set up"})`,
    hint: error?.message ?? change?.file ?? "",
    preselected: plan !== undefined && plan.diff !== "" && plan.state !== "name taken",
  }));
  const message = remove ? "Take the server out of which clients?" : "Enter the server into which clients?";
  const chosen = await chooseClients(message, choices);
  if (chosen === undefined) throw new Aborted();
  return entries.filter(({ client }) => chosen.includes(client.name));
}

interface Applying {
  setup: Setup;
  canAsk: boolean;
  redact: (text: string) => string;
}

/** Writes the changes one by one; after an abort returns the outcomes so far. */
async function applyAll(
  entries: PlannedClient[],
  applying: Applying,
): Promise<{ outcomes: Outcome[]; aborted: boolean }> {
  const outcomes: Outcome[] = [];
  try {
    for (const entry of entries) outcomes.push(await apply(entry, applying));
    return { outcomes, aborted: false };
  } catch (error) {
    if (error instanceof Aborted) return { outcomes, aborted: true };
    throw error;
  }
}

async function apply(
  { client, change, plan, error }: PlannedClient,
  { setup, canAsk, redact }: Applying,
): Promise<Outcome> {
  const { options } = setup;
  const about = { client: client.name, title: client.title, scope: options.scope, file: change?.file };
  if (change === undefined || plan === undefined) return { ...about, action: "failed", ...errorField(error) };
  const known = { ...about, state: plan.state, diff: redact(plan.diff) };
  if (plan.diff === "") return { ...known, action: "none" };
  if (options.dryRun) return { ...known, action: "planned" };
  const objection = (to: Plan): AppError | undefined =>
    to.state === "name taken" && !canAsk ? notOurs(client, options) : undefined;
  const refused = objection(plan);
  if (refused !== undefined) return { ...known, action: "failed", ...errorField(refused) };
  if (canAsk && !(await confirmChange(known, plan, options))) return { ...known, action: "declined" };
  const written = await writePlan({ first: plan, planAgain: change.plan, mayRetry: !canAsk, objection });
  return { ...known, ...outcomeOf(written, setup), diff: redact(written.plan.diff) };
}

function outcomeOf(
  { plan, end, backup, error }: WriteResult,
  { options, token }: Setup,
): Pick<Outcome, "action" | "backup" | "exposed" | "error"> {
  const kept = backup === undefined ? {} : { backup };
  if (end !== "written") return { ...kept, action: end, ...errorField(error) };
  const action = options.remove ? "removed" : plan.state === "not configured" ? "added" : "changed";
  const exposed = token !== undefined && !options.remove && (plan.config.mode & 0o077) !== 0;
  return { ...kept, action, ...(exposed ? { exposed } : {}) };
}

const errorField = (error: AppError | undefined): Pick<Outcome, "error"> =>
  error === undefined
    ? {}
    : { error: { code: error.code, message: error.message, suggestion: error.suggestion, details: error.details } };

async function confirmChange(
  { title, diff }: { title: string; diff: string },
  plan: Plan,
  options: InitOptions,
): Promise<boolean> {
  const { confirmWrite } = await import("./terminal.ts");
  const isOtherServer = plan.state === "name taken";
  const warning = isOtherServer
    ? `\n${options.name} is another server's entry; it would be ${options.remove ? "removed" : "replaced"}.`
    : "";
  await printFailure(`\n${diff}\n${warning}`);
  const answer = await confirmWrite(`${title}: write this change?`, { proposed: !isOtherServer });
  if (answer === undefined) throw new Aborted();
  return answer;
}

const notOurs = ({ title }: Client, { name, remove }: InitOptions): AppError =>
  invalid(
    `${title} has an entry ${name} that is not this server's; it was not touched.`,
    remove
      ? "Remove it by hand, or run init at a terminal."
      : "Choose another name with --name, or run init at a terminal.",
  );

function confirmationNeeded(entries: PlannedClient[]): AppError {
  const found = entries.map(({ client, plan }) => `${client.title} (${plan?.state ?? "unreadable"})`).join(", ");
  return new AppError({
    code: "INVALID_INPUT",
    message: `Not a terminal, so nothing can be asked and nothing was written. Found: ${found}.`,
    suggestion: "Add --dry-run to see the changes, or --yes to write them.",
    details: {
      clients: entries.map(({ client, change, plan }) => ({
        client: client.name,
        file: change?.file,
        state: plan?.state ?? "unreadable",
      })),
    },
  });
}
