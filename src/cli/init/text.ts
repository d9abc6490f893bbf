/** The report of `init`: the outcome for each client, and what is still to do. */

import { join } from "node:path";
import { parseBudget } from "../../costs/budget.ts";
import { type Config, loadConfig } from "../../config/config.ts";
import { checkCli } from "../../doctor/gemini.ts";
import type { ErrorCode } from "../../errors.ts";
import { KEY_PAGE } from "../../gemini/failures.ts";
import { CLIENTS, KEY_VARIABLE, type Scope, TOKEN_VARIABLE } from "../../setup/clients.ts";
import type { State } from "../../setup/plan.ts";
import { tilde } from "../render/home-path.ts";
import type { Setup } from "./entries.ts";

export interface Outcome {
  client: string;
  title: string;
  scope: Scope;
  file: string | undefined;
  /** State of the entry before. */
  state?: State;
  action: "added" | "changed" | "removed" | "none" | "planned" | "declined" | "failed";
  diff?: string;
  /** Path of the copy of the previous file. */
  backup?: string;
  /** The file contains a token, and other users of this machine can read it. */
  exposed?: boolean;
  error?: {
    code: ErrorCode;
    message: string;
    suggestion: string | undefined;
    details: Record<string, unknown> | undefined;
  };
}

const ACTION_TEXTS: Record<Outcome["action"], string> = {
  added: "connected",
  changed: "updated",
  removed: "disconnected",
  none: "nothing to do",
  planned: "would be changed; nothing was written",
  declined: "left unchanged",
  failed: "failed",
};

export const STATE_TEXTS: Record<State, string> = {
  "not configured": "not connected",
  configured: "connected",
  differs: "needs an update",
  "name taken": "name taken by another server",
};

export const NO_CLIENT = "No supported AI assistant was found.";
export const NAME_ONE = `To set one up anyway, name it: ${CLIENTS.map(({ name }) => name).join(", ")}.`;

interface OutcomeOptions {
  remarks: string[];
  diffs: boolean;
  /** How many clients could be chosen. */
  found: number;
  home: string;
}

export function outcomeText(outcomes: Outcome[], { remarks, diffs, found, home }: OutcomeOptions): string {
  const blocks = outcomes.map((outcome) => block(outcome, { diffs, home }));
  if (found === 0) blocks.push(`${NO_CLIENT} ${NAME_ONE}`);
  else if (outcomes.length === 0) blocks.push("Nothing was selected, so no assistant was changed.");
  return [...blocks, ...(remarks.length === 0 ? [] : [remarks.map((remark) => `→ ${remark}`).join("\n")])].join("\n\n");
}

function block(
  { title, state, action, file, diff, backup, error }: Outcome,
  { diffs, home }: Pick<OutcomeOptions, "diffs" | "home">,
): string {
  const before = state === undefined ? "" : STATE_TEXTS[state];
  const found = before === "" || action === "added" || action === "removed" ? "" : ` (was ${before})`;
  return [
    `${title}: ${ACTION_TEXTS[action]}${action === "none" ? ` (${before})` : found}`,
    ...(file === undefined ? [] : [`  ${tilde(file, home)}`]),
    ...(backup === undefined ? [] : [`  backup: ${tilde(backup, home)}`]),
    ...(error === undefined ? [] : [`  ${error.message}`, `  ${error.suggestion ?? ""}`]),
    ...(diffs && diff !== undefined && diff !== "" ? ["", diff] : []),
  ].join("\n");
}

export function remarksFor(outcomes: Outcome[], { setup, config }: { setup: Setup; config: Config }): string[] {
  const { remove, http } = setup.options;
  const written = outcomes.filter(({ action }) => ["added", "changed", "removed"].includes(action));
  const restarts = written.map(({ client, title }) => {
    const { check = "", hint } = CLIENTS.find(({ name }) => name === client) ?? {};
    return `${title}: restart it, then check with: ${check}${hint === undefined || remove ? "" : `. ${hint}`}`;
  });
  const inPlace = outcomes.filter(({ action, error }) => error === undefined && action !== "declined");
  if (remove || inPlace.length === 0) return restarts;
  return [
    ...restarts,
    ...(http ? [...exposures(written, setup.place.home), ...tokenRemarks(setup, config)] : keyRemarks(inPlace, config)),
    ...projectRemarks(setup),
  ];
}

const CONNECTED: readonly Outcome["action"][] = ["added", "changed", "none"];

/** A first request to try; undefined if no assistant is connected. */
export function sentenceToSay(outcomes: Outcome[], entry: string): string | undefined {
  const connected = outcomes.filter(({ action, error }) => CONNECTED.includes(action) && error === undefined);
  if (connected.length === 0) return undefined;
  const [only] = connected;
  const assistant = connected.length === 1 ? only?.title : "your assistant";
  return `Now ask ${assistant}:\n  “Use ${entry}: which heat pumps keep their efficiency below −15 °C, and who measured it?”`;
}

/** What assistants may spend; undefined without a budget. */
export function budgetSentence(setting: string): string | undefined {
  const { soft, hard } = parseBudget(setting);
  if (soft === undefined) return undefined;
  const refusal = hard === undefined ? "" : ` Above $${hard} nothing is started.`;
  return `Budget: $${soft} a day. Above it you are asked before research is started.${refusal} BUDGET_DAY_USD changes it.`;
}

const exposures = (outcomes: Outcome[], home: string): string[] =>
  outcomes
    .filter(({ exposed }) => exposed === true && process.platform !== "win32")
    .map(({ file = "" }) => tilde(file, home))
    .map((file) => `Other users of this machine can read the token in ${file}. Protect it with: chmod 600 ${file}`);

function tokenRemarks({ token, url, place }: Setup, { configDir }: Config): string[] {
  const running = `gemini-search-mcp serve must be running and reachable at ${url}.`;
  if (token !== undefined) return [running];
  const where = `its value is in ${tilde(join(configDir, "token"), place.home)}, or what you gave to serve`;
  return [running, `Start the client with ${TOKEN_VARIABLE} in its environment (${where}).`];
}

/** How to set a key so that a server started by the client finds it. */
function keyRemarks(outcomes: Outcome[], config: Config): string[] {
  const problems = checkCli(config).filter(({ status }) => status !== "ok");
  const remarks = problems.map(({ name, message, remedy }) => `${name}: ${message} ${remedy ?? ""}`);
  if (config.vertex || isKeySaved(config)) return remarks;
  if (!isKeyInEnvironment(config)) {
    const set = `run gemini-search-mcp init at a terminal, or start the client with ${KEY_VARIABLE} in its environment.`;
    if (problems.length === 0)
      return [`No key is set, and Deep Research needs one: get it at ${KEY_PAGE}, then ${set}`];
    // The remedy of the other problems is a key, too, unless the CLI was chosen explicitly.
    const others = config.settings.SEARCH_BACKEND === "cli" ? remarks : [];
    return [...others, `No key is set. Get one at ${KEY_PAGE}, then ${set}`];
  }
  const file = tilde(join(config.configDir, "config.json"), config.home);
  const without = outcomes.filter(({ client }) => CLIENTS.find(({ name }) => name === client)?.passesKey === false);
  return [
    ...remarks,
    ...without.map(
      ({ title }) => `${title} can't pass on your key. Save it in ${file} with: gemini-search-mcp init --save-key`,
    ),
  ];
}

function projectRemarks({ options, launches }: Setup): string[] {
  if (options.scope !== "project") return [];
  const trust = "Clients use project files only in folders that you trust.";
  if (options.http || launches.onPath) return [trust];
  return [trust, "The entry contains paths of this machine: don't share the file."];
}

export const isKeyInEnvironment = ({ environment }: Config): boolean =>
  [KEY_VARIABLE, "GOOGLE_API_KEY"].some((name) => (environment[name] ?? "").trim() !== "");

/** Whether our config.json has a key, whatever the environment has. */
export function isKeySaved({ environment }: Config): boolean {
  const { settings } = loadConfig({ environment: { ...environment, [KEY_VARIABLE]: "", GOOGLE_API_KEY: "" } });
  return settings.GEMINI_API_KEY !== undefined;
}
