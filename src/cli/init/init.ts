/** `init`: adds this server to the configuration of clients, or removes it, after showing the change. */

import { homedir } from "node:os";
import { type Config, loadConfig } from "../../config/config.ts";
import { readEnvironment } from "../../config/environment.ts";
import { AppError } from "../../errors.ts";
import { createRedactor } from "../../platform/redact.ts";
import { checkHome, type Client, CLIENTS, installedClients } from "../../setup/clients.ts";
import { replaceConfigFile } from "../../setup/config-file.ts";
import type { Plan } from "../../setup/plan.ts";
import { EXIT_CODES, print, printFailure, printText } from "../output.ts";
import { printError } from "../print-error.ts";
import { type InitOptions, invalid, planFor, prepareSetup, type Setup } from "./entries.ts";
import type { KeyDecision } from "./key.ts";
import {
  budgetSentence,
  NAME_ONE,
  NO_CLIENT,
  type Outcome,
  outcomeText,
  remarksFor,
  sentenceToSay,
  STATE_TEXTS,
} from "./text.ts";
import { tilde } from "../render/home-path.ts";

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
    process.exitCode =
      error instanceof Aborted ? EXIT_CODES.interrupted : await printError(error, options.json === true);
  }
}

async function setUp(options: InitOptions, config: Config): Promise<number> {
  const setup = prepareSetup(options, config);
  const canAsk = isInteractive(options);
  const found = chosenClients(setup, canAsk);
  const entries = await Promise.all(found.map((client) => plannedOrFailed(client, setup)));
  if (!canAsk && !options.yes && !options.dryRun && entries.some(isChange)) throw confirmationNeeded(entries);
  const key = await keyFor(options, config, canAsk);
  const redact = createRedactor({ ...config.secrets, token: setup.token });
  const outcomes = await writeEntries(entries, { setup, canAsk, redact });
  const decided = canAsk ? await decide(options, config) : [];
  // With the settings that were saved meanwhile.
  const remarks = remarksFor(outcomes, { setup, config: loadConfig({ environment: readEnvironment() }) });
  const allRemarks = [...key.remarks, ...remarks, ...(decided ?? [])];
  const success = outcomes.every(({ error }) => error === undefined);
  if (options.json) await print(JSON.stringify({ success, clients: outcomes, remarks: allRemarks }, null, 2));
  else {
    const diffs = options.dryRun === true || (options.diff === true && !canAsk);
    await printText(outcomeText(outcomes, { remarks: allRemarks, diffs, found: found.length, home: config.home }));
  }
  const isOver = decided !== undefined && (await finish(outcomes, { options, config, key, canAsk }));
  if (!isOver) return EXIT_CODES.interrupted;
  return success ? EXIT_CODES.ok : EXIT_CODES.failed;
}

const isInteractive = ({ yes, dryRun, json }: InitOptions): boolean =>
  !yes && !dryRun && !json && process.stdin.isTTY && process.stderr.isTTY;

/** The key matters to servers that clients start here: an HTTP server has an operator of its own. */
async function keyFor(
  { remove, http, saveKey, dryRun }: InitOptions,
  config: Config,
  canAsk: boolean,
): Promise<KeyDecision & { remarks: string[] }> {
  const none = { isReady: false, remarks: [] };
  if (remove || http || dryRun) return none;
  if (saveKey) {
    const { saveEnvironmentKey } = await import("./key.ts");
    return { isReady: true, remarks: [await saveEnvironmentKey(config)] };
  }
  if (!canAsk) return none;
  const { decideKey } = await import("./key.ts");
  const decision = await decideKey(config);
  if (decision === undefined) throw new Aborted();
  return { ...decision, remarks: [] };
}

/** Offers a first search, then says how to use the server. False if the user aborted. */
async function finish(
  outcomes: Outcome[],
  { options, config, key, canAsk }: { options: InitOptions; config: Config; key: KeyDecision; canAsk: boolean },
): Promise<boolean> {
  if (canAsk && key.isReady) {
    const { offerTrial } = await import("./key.ts");
    if (!(await offerTrial(key.key))) return false;
  }
  const isSilent = options.dryRun || options.remove || options.json;
  const sentence = isSilent ? undefined : sentenceToSay(outcomes, options.name);
  if (sentence === undefined) return true;
  // An HTTP server has an operator of its own.
  const budget = options.http ? undefined : budgetSentence(config.settings.BUDGET_DAY_USD);
  if (budget !== undefined) await printText(`\n${budget}`);
  await printText(`\n${sentence}`);
  return true;
}

/** Asks about source links only for servers that clients start here: an HTTP server has an operator of its own. */
async function decide({ remove, http }: InitOptions, config: Config): Promise<string[] | undefined> {
  if (remove || http || !config.configDirWritable) return [];
  const { decideSourceLinks } = await import("./terminal.ts");
  return decideSourceLinks(config);
}

/** At a terminal none is an answer: a key can be entered and tried without an assistant. */
function chosenClients(setup: Setup, canAsk: boolean): Client[] {
  const { clients: names } = setup.options;
  if (names.length > 0) return CLIENTS.filter(({ name }) => names.includes(name));
  const here = installedClients(setup.place).filter(
    (client) => client.file(setup.place, setup.options.scope) !== undefined,
  );
  if (here.length > 0 || (canAsk && !setup.options.remove)) return here;
  throw invalid(NO_CLIENT, NAME_ONE);
}

/** The planned change for one client, or its error, which does not stop the others. */
interface PlannedClient {
  client: Client;
  plan?: Plan;
  error?: AppError;
}

async function plannedOrFailed(client: Client, setup: Setup): Promise<PlannedClient> {
  try {
    return { client, plan: await planFor(client, setup) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { client, error };
  }
}

async function choose(entries: PlannedClient[], setup: Setup): Promise<PlannedClient[]> {
  const { remove } = setup.options;
  const { chooseClients } = await import("./terminal.ts");
  const choices = entries.map(({ client, plan, error }) => ({
    value: client.name,
    label: `${client.title} (${plan === undefined ? "cannot be set up" : STATE_TEXTS[plan.state]})`,
    hint: error?.message ?? tilde(plan?.config.file ?? "", setup.place.home),
    preselected: plan !== undefined && plan.diff !== "" && plan.state !== "name taken",
  }));
  const message = remove ? "Which assistants do you want to disconnect?" : "Which assistants do you want to connect?";
  const chosen = await chooseClients(message, choices);
  if (chosen === undefined) throw new Aborted();
  return entries.filter(({ client }) => chosen.includes(client.name));
}

interface Applying {
  setup: Setup;
  canAsk: boolean;
  redact: (text: string) => string;
}

const isChange = ({ plan }: PlannedClient): boolean => plan !== undefined && plan.diff !== "";

async function writeEntries(entries: PlannedClient[], applying: Applying): Promise<Outcome[]> {
  const { setup, canAsk } = applying;
  const isToChoose = canAsk && setup.options.clients.length === 0 && entries.length > 0;
  const wanted = isToChoose ? await choose(entries, setup) : entries;
  const agreed = !canAsk || (await confirmAll(wanted, applying));
  const outcomes: Outcome[] = [];
  for (const entry of wanted) outcomes.push(await apply(entry, { ...applying, agreed }));
  return outcomes;
}

async function apply(
  { client, plan, error }: PlannedClient,
  { setup, canAsk, redact, agreed }: Applying & { agreed: boolean },
): Promise<Outcome> {
  const { options } = setup;
  const about = { client: client.name, title: client.title, scope: options.scope, file: plan?.config.file };
  if (plan === undefined) return { ...about, action: "failed", ...errorField(error) };
  const known = { ...about, state: plan.state, diff: redact(plan.diff) };
  if (plan.diff === "") return { ...known, action: "none" };
  if (options.dryRun) return { ...known, action: "planned" };
  if (plan.state === "name taken" && !canAsk) {
    return { ...known, action: "failed", ...errorField(notOurs(client, options)) };
  }
  if (!agreed) return { ...known, action: "declined" };
  return { ...known, ...(await write(plan, setup)) };
}

async function write(
  { state, config, text }: Plan,
  { options, token }: Setup,
): Promise<Pick<Outcome, "action" | "backup" | "exposed" | "error">> {
  try {
    const backup = await replaceConfigFile(config, text, { now: new Date() });
    const action = options.remove ? "removed" : state === "not configured" ? "added" : "changed";
    const exposed = token !== undefined && !options.remove && (config.mode & 0o077) !== 0;
    return { action, ...(backup === undefined ? {} : { backup }), ...(exposed ? { exposed } : {}) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { action: "failed", ...errorField(error) };
  }
}

const errorField = (error: AppError | undefined): Pick<Outcome, "error"> =>
  error === undefined
    ? {}
    : { error: { code: error.code, message: error.message, suggestion: error.suggestion, details: error.details } };

/** Shows what changes in which file, and asks once. True if there is nothing to ask. */
async function confirmAll(entries: PlannedClient[], { setup: { options, place }, redact }: Applying): Promise<boolean> {
  const changes = entries.flatMap(({ client, plan }) =>
    plan === undefined || plan.diff === "" ? [] : [{ client, plan }],
  );
  if (changes.length === 0) return true;
  const { confirmStep } = await import("./terminal.ts");
  const taken = changes.filter(({ plan }) => plan.state === "name taken");
  const verb = options.remove ? "removed" : "replaced";
  const warnings = taken.map(
    ({ client }) => `${client.title}: ${options.name} is another server's entry; it would be ${verb}.`,
  );
  const summaries = changes.map(({ client, plan }) => {
    const file = tilde(plan.config.file, place.home);
    if (options.diff === true) return `${file}\n${redact(plan.diff)}`;
    return `${client.title}: ${changeText(options, plan.state)} ${file}`;
  });
  const more =
    options.diff === true ? [] : ["Other entries stay as they are, and a copy is kept; --diff shows the lines."];
  await printFailure(`\n${[...summaries, ...warnings, ...more].join("\n")}\n`);
  const [only] = changes;
  const message =
    changes.length === 1 ? `Write this change for ${only?.client.title}?` : `Write these ${changes.length} changes?`;
  const answer = await confirmStep(message, { proposed: taken.length === 0 });
  if (answer === undefined) throw new Aborted();
  return answer;
}

const changeText = ({ name, remove }: InitOptions, state: Plan["state"]): string => {
  if (remove === true) return `removes ${name} from`;
  return state === "not configured" ? `adds ${name} to` : `changes ${name} in`;
};

const notOurs = ({ title }: Client, { name, remove }: InitOptions): AppError =>
  invalid(
    `${title} has an entry ${name} that belongs to another server; it was not changed.`,
    remove
      ? "Remove it by hand, or run init interactively."
      : "Choose another name with --name, or run init interactively.",
  );

function confirmationNeeded(entries: PlannedClient[]): AppError {
  const found = entries
    .map(({ client, plan }) => `${client.title} (${plan === undefined ? "unreadable" : STATE_TEXTS[plan.state]})`)
    .join(", ");
  return new AppError({
    code: "INVALID_INPUT",
    message: `Not running interactively, so nothing was changed. Found: ${found}.`,
    suggestion: "Add --dry-run to preview the changes, or --yes to write them.",
    details: {
      clients: entries.map(({ client, plan }) => ({
        client: client.name,
        file: plan?.config.file,
        state: plan?.state ?? "unreadable",
      })),
    },
  });
}
