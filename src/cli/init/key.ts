/** The API key in `init`: asked for where none is set, tested at Google, saved if the user wants, and tried with one search. */

import { tilde } from "../render/home-path.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Config } from "../../config/config.ts";
import { readEnvironment } from "../../config/environment.ts";
import { checkCli } from "../../doctor/gemini.ts";
import { keyFile, type KeyFinding, saveKey, testKey } from "../../doctor/key.ts";
import { AppError, invalidInput } from "../../errors.ts";
import { KEY_PAGE } from "../../gemini/failures.ts";
import { systemClock } from "../../platform/clock.ts";
import { KEY_VARIABLE } from "../../setup/clients.ts";
import { printFailure } from "../output.ts";
import { askForKey, confirmStep, showFinding } from "./terminal.ts";
import { isKeyInEnvironment, isKeySaved } from "./text.ts";

export interface KeyDecision {
  /** A search can be tried: a key works, or none is needed. */
  isReady: boolean;
  /** A key that was typed and need not be saved. */
  key?: string | undefined;
}

/** Undefined if the user aborted. */
export async function decideKey(config: Config): Promise<KeyDecision | undefined> {
  if (config.vertex) return { isReady: true };
  const { GEMINI_API_KEY: present } = config.settings;
  if (present === undefined) return askUntilAccepted(config);
  const finding = await testKey(present, config, systemClock.now);
  showFinding(finding);
  if (finding.verdict === "rejected") return askUntilAccepted(config);
  const isReady = finding.verdict === "works";
  return isKeySaved(config) ? { isReady } : offerToSave(present, config, { isReady, proposed: false });
}

async function askUntilAccepted(config: Config): Promise<KeyDecision | undefined> {
  const hasCli = checkCli(config).every(({ status }) => status === "ok");
  const purpose = hasCli ? "needed for Deep Research only: searches use your Gemini CLI" : `get one at ${KEY_PAGE}`;
  for (;;) {
    const typed = await askForKey(`Gemini API key (${purpose}; Enter to skip)`);
    if (typed === undefined) return undefined;
    if (typed === "") return { isReady: hasCli };
    const finding = await testKey(typed, config, systemClock.now);
    showFinding(finding);
    if (finding.verdict === "rejected") continue;
    return offerToSave(typed, config, { isReady: finding.verdict === "works", proposed: true });
  }
}

const OVERRIDDEN: KeyFinding = {
  verdict: "unknown",
  message: `${KEY_VARIABLE} in your environment takes precedence over the saved key. Unset it there.`,
};

async function offerToSave(
  key: string,
  config: Config,
  { isReady, proposed }: { isReady: boolean; proposed: boolean },
): Promise<KeyDecision | undefined> {
  const decision = { isReady, key };
  if (!config.configDirWritable) return decision;
  const question = `Save the key in ${tilde(keyFile(config), config.home)}, readable only by you, so that every assistant finds it?`;
  const agreed = await confirmStep(question, { proposed });
  if (agreed === undefined) return undefined;
  if (agreed) showFinding(await trySaving(key, config));
  if (agreed && isKeyInEnvironment(config) && key !== config.settings.GEMINI_API_KEY) showFinding(OVERRIDDEN);
  return decision;
}

async function trySaving(key: string, config: Config): Promise<KeyFinding> {
  const file = tilde(keyFile(config), config.home);
  try {
    await saveKey(key, config);
    return { verdict: "works", message: `Your key is saved in ${file} (readable only by you).` };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { verdict: "rejected", message: `The key could not be saved. ${error.message}` };
  }
}

/** --save-key: saves the key of the environment without a question, for scripts. */
export async function saveEnvironmentKey(config: Config): Promise<string> {
  const { GEMINI_API_KEY: key } = config.settings;
  if (key === undefined || !isKeyInEnvironment(config)) {
    throw invalidInput(`${KEY_VARIABLE} is not set, so there is no key to save.`, {
      suggestion: `Set it to a key from ${KEY_PAGE}, or run init at a terminal.`,
    });
  }
  return (await trySaving(key, config)).message;
}

const QUESTION = "What is the newest LTS version of Node.js?";

/** Returns whether the user answered. Runs the search as a command of its own, as a user would. */
export async function offerTrial(key: string | undefined): Promise<boolean> {
  const agreed = await confirmStep(`Try it now with one search? It costs about a cent. “${QUESTION}”`, {
    proposed: true,
  });
  if (agreed !== true) return agreed !== undefined;
  await printFailure("");
  const child = spawn(process.execPath, [process.argv[1] ?? "", "search", QUESTION], {
    env: { ...readEnvironment(), ...(key === undefined ? {} : { [KEY_VARIABLE]: key }) },
    stdio: ["ignore", "inherit", "inherit"],
  });
  await once(child, "exit");
  return true;
}
