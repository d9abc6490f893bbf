/** `init`: enters this server into the clients of this machine, or takes it out, never without showing the change. */

import { homedir } from "node:os";
import { type Config, loadConfig, readEnvironment } from "../../config/config.ts";
import { AppError } from "../../errors.ts";
import { createRedactor } from "../../platform/redact.ts";
import { type Client, CLIENTS } from "../../setup/clients.ts";
import { checkHome } from "../../setup/place.ts";
import type { Plan } from "../../setup/plan.ts";
import { writePlan, type Written } from "../../setup/write-plan.ts";
import { clientsHere, type InitOptions, type Intention, intend, prepareSetup, type Setup, wrong } from "./entries.ts";
import { type Outcome, outcomeText, remarksFor } from "./text.ts";
import { print, printFailure } from "../output.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { printError } from "../print-error.ts";

/** The user left at a question. */
class Left extends Error {}

export async function runInit(options: InitOptions): Promise<void> {
  // `| head` closes our stdout early; that is not an error.
  process.stdout.on("error", () => undefined);
  try {
    checkHome(homedir);
    const config = loadConfig({ environment: readEnvironment() });
    process.exitCode = await setUp(options, config);
  } catch (error) {
    process.exitCode = error instanceof Left ? EXIT_CODES.interrupted : await printError(error, options.json);
  }
}

async function setUp(options: InitOptions, config: Config): Promise<number> {
  const setup = prepareSetup(options, config);
  const cover = createRedactor({ ...config.secrets, token: setup.token });
  const canAsk = !options.yes && !options.dryRun && !options.json && process.stdin.isTTY && process.stderr.isTTY;
  const looks = await Promise.all(chosenClients(setup).map((client) => look(client, setup)));
  if (!canAsk && !options.yes && !options.dryRun && looks.some(({ plan }) => plan !== undefined && plan.diff !== "")) {
    throw nobodyToAsk(looks);
  }
  const wanted = canAsk && options.clients.length === 0 ? await choose(looks, options) : looks;
  const { outcomes, left: leftEarly } = await settleAll(wanted, { setup, canAsk, cover });
  const decided = canAsk && !leftEarly ? await decide(options, config) : [];
  const remarks = [...remarksFor(outcomes, { setup, config }), ...(decided ?? [])];
  const left = leftEarly || decided === undefined;
  const success = outcomes.every(({ error }) => error === undefined);
  if (options.json) await print(JSON.stringify({ success, clients: outcomes, remarks }, null, 2));
  else await print(outcomeText(outcomes, { remarks, diffs: !canAsk }));
  if (left) return EXIT_CODES.interrupted;
  return success ? EXIT_CODES.ok : EXIT_CODES.failed;
}

/** Only for servers that clients start here: one that is reached by its address has an operator of its own. */
async function decide({ remove, http }: InitOptions, config: Config): Promise<string[] | undefined> {
  if (remove || http || !config.configDirWritable) return [];
  const { decideSourceLinks } = await import("./source-links.ts");
  return decideSourceLinks(config);
}

function chosenClients(setup: Setup): Client[] {
  const { clients: names } = setup.options;
  if (names.length > 0) return CLIENTS.filter(({ name }) => names.includes(name));
  const here = clientsHere(setup).filter((client) => client.file(setup.place, setup.options.scope) !== undefined);
  if (here.length > 0) return here;
  const known = CLIENTS.map(({ name }) => name).join(", ");
  throw wrong("No client that init knows was found for this user.", `Name one to set it up anyway: ${known}.`);
}

/** One client as it stands; what is wrong with one keeps nobody from the others. */
interface Look {
  client: Client;
  intention?: Intention;
  plan?: Plan;
  error?: AppError;
}

async function look(client: Client, setup: Setup): Promise<Look> {
  try {
    const intention = intend(client, setup);
    return { client, intention, plan: await intention.plan() };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { client, error };
  }
}

async function choose(looks: Look[], { remove }: InitOptions): Promise<Look[]> {
  const { chooseClients } = await import("./terminal.ts");
  const choices = looks.map(({ client, intention, plan, error }) => ({
    value: client.name,
    label: `${client.title} (${plan?.state ?? "cannot be set up"})`,
    hint: error?.message ?? intention?.file ?? "",
    wanted: plan !== undefined && plan.diff !== "" && plan.state !== "name taken",
  }));
  const message = remove ? "Take the server out of which clients?" : "Enter the server into which clients?";
  const chosen = await chooseClients(message, choices);
  if (chosen === undefined) throw new Left();
  return looks.filter(({ client }) => chosen.includes(client.name));
}

interface Settling {
  setup: Setup;
  canAsk: boolean;
  cover: (text: string) => string;
}

/** Who leaves in between is still told what was written before. */
async function settleAll(looks: Look[], settling: Settling): Promise<{ outcomes: Outcome[]; left: boolean }> {
  const outcomes: Outcome[] = [];
  try {
    for (const one of looks) outcomes.push(await settle(one, settling));
    return { outcomes, left: false };
  } catch (error) {
    if (error instanceof Left) return { outcomes, left: true };
    throw error;
  }
}

async function settle({ client, intention, plan, error }: Look, { setup, canAsk, cover }: Settling): Promise<Outcome> {
  const { options } = setup;
  const about = { client: client.name, title: client.title, scope: options.scope, file: intention?.file };
  if (intention === undefined || plan === undefined) return { ...about, action: "failed", ...shown(error) };
  const known = { ...about, state: plan.state, diff: cover(plan.diff) };
  if (plan.diff === "") return { ...known, action: "none" };
  if (options.dryRun) return { ...known, action: "planned" };
  const objection = (to: Plan): AppError | undefined =>
    to.state === "name taken" && !canAsk ? notOurs(client, options) : undefined;
  const refused = objection(plan);
  if (refused !== undefined) return { ...known, action: "failed", ...shown(refused) };
  if (canAsk && !(await agreed(known, plan, options))) return { ...known, action: "declined" };
  const written = await writePlan({ first: plan, planAgain: intention.plan, again: !canAsk, objection });
  return { ...known, ...outcomeOf(written, setup), diff: cover(written.plan.diff) };
}

function outcomeOf(
  { plan, end, backup, error }: Written,
  { options, token }: Setup,
): Pick<Outcome, "action" | "backup" | "exposed" | "error"> {
  const kept = backup === undefined ? {} : { backup };
  if (end !== "written") return { ...kept, action: end, ...shown(error) };
  const action = options.remove ? "removed" : plan.state === "not configured" ? "added" : "changed";
  const exposed = token !== undefined && !options.remove && (plan.config.mode & 0o077) !== 0;
  return { ...kept, action, ...(exposed ? { exposed } : {}) };
}

const shown = (error: AppError | undefined): Pick<Outcome, "error"> =>
  error === undefined
    ? {}
    : { error: { code: error.code, message: error.message, suggestion: error.suggestion, details: error.details } };

async function agreed(
  { title, diff }: { title: string; diff: string },
  plan: Plan,
  options: InitOptions,
): Promise<boolean> {
  const { mayWrite } = await import("./terminal.ts");
  const foreign = plan.state === "name taken";
  const warning = foreign
    ? `\n${options.name} is another server's entry; it would be ${options.remove ? "removed" : "replaced"}.`
    : "";
  await printFailure(`\n${diff}\n${warning}`);
  const answer = await mayWrite(`${title}: write this change?`, { proposed: !foreign });
  if (answer === undefined) throw new Left();
  return answer;
}

const notOurs = ({ title }: Client, { name, remove }: InitOptions): AppError =>
  wrong(
    `${title} has an entry ${name} that is not this server's; it was not touched.`,
    remove
      ? "Remove it by hand, or run init at a terminal."
      : "Choose another name with --name, or run init at a terminal.",
  );

function nobodyToAsk(looks: Look[]): AppError {
  const found = looks.map(({ client, plan }) => `${client.title} (${plan?.state ?? "unreadable"})`).join(", ");
  return new AppError({
    code: "INVALID_INPUT",
    message: `Nobody can be asked here, so nothing was written. Found: ${found}.`,
    suggestion: "Add --dry-run to see the changes, or --yes to write them.",
    details: {
      clients: looks.map(({ client, intention, plan }) => ({
        client: client.name,
        file: intention?.file,
        state: plan?.state ?? "unreadable",
      })),
    },
  });
}
