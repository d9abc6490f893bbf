/** The report of `init`: the outcome for each client, and what is still to do. */

import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { checkCli } from "../../doctor/gemini.ts";
import type { ErrorCode } from "../../errors.ts";
import { CLIENTS, KEY_VARIABLE, type Scope, TOKEN_VARIABLE } from "../../setup/clients.ts";
import type { State } from "../../setup/plan.ts";
import type { Setup } from "./entries.ts";

export interface Outcome {
  client: string;
  title: string;
  scope: Scope;
  file: string | undefined;
  /** State of the entry before. */
  state?: State;
  action: "added" | "changed" | "removed" | "none" | "meanwhile" | "planned" | "declined" | "failed";
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
  added: "added",
  changed: "changed",
  removed: "removed",
  none: "nothing to do",
  meanwhile: "done by another program meanwhile; nothing was written",
  planned: "would be changed; nothing was written",
  declined: "left as it is",
  failed: "failed",
};

export function outcomeText(outcomes: Outcome[], { remarks, diffs }: { remarks: string[]; diffs: boolean }): string {
  const blocks = outcomes.map((outcome) => block(outcome, diffs));
  if (outcomes.length === 0) blocks.push("Nothing was chosen, nothing was written.");
  return [...blocks, ...(remarks.length === 0 ? [] : [remarks.map((remark) => `→ ${remark}`).join("\n")])].join("\n\n");
}

function block({ title, state, action, file, diff, backup, error }: Outcome, diffs: boolean): string {
  const found = state === undefined || action === "added" ? "" : ` (was: ${state})`;
  return [
    `${title}: ${ACTION_TEXTS[action]}${action === "none" ? ` (${state})` : found}`,
    ...(file === undefined ? [] : [`  ${file}`]),
    ...(backup === undefined ? [] : [`  backup: ${backup}`]),
    ...(error === undefined ? [] : [`  ${error.message}`, `  ${error.suggestion ?? ""}`]),
    ...(diffs && diff !== undefined && diff !== "" ? ["", diff] : []),
  ].join("\n");
}

export function remarksFor(outcomes: Outcome[], { setup, config }: { setup: Setup; config: Config }): string[] {
  const { remove, http } = setup.options;
  const written = outcomes.filter(({ action }) => ["added", "changed", "removed"].includes(action));
  const restarts = written.map(({ client, title }) => {
    const check = CLIENTS.find(({ name }) => name === client)?.check ?? "";
    return `${title}: restart it, then check with: ${check}`;
  });
  const inPlace = outcomes.filter(({ action, error }) => error === undefined && action !== "declined");
  if (remove || inPlace.length === 0) return restarts;
  return [
    ...restarts,
    ...(http ? [...exposures(written), ...tokenRemarks(setup, config)] : keyRemarks(inPlace, config)),
    ...projectRemarks(setup),
  ];
}

const exposures = (outcomes: Outcome[]): string[] =>
  outcomes
    .filter(({ exposed }) => exposed === true && process.platform !== "win32")
    .map(({ file }) => `Other users of this machine can read the token in ${file}: chmod 600 it.`);

function tokenRemarks({ token, url }: Setup, { configDir }: Config): string[] {
  const running = `gemini-search-mcp serve must be running and reachable at ${url}.`;
  if (token !== undefined) return [running];
  const where = `its value is in ${join(configDir, "token")}, or what you gave to serve`;
  return [running, `Start the client with ${TOKEN_VARIABLE} in its environment (${where}).`];
}

/** How to set a key so that a server started by the client finds it. */
function keyRemarks(outcomes: Outcome[], config: Config): string[] {
  const { environment, settings, vertex, configDir } = config;
  const file = join(configDir, "config.json");
  const remarks = checkCli(config).flatMap(({ status, name, message, remedy }) =>
    status === "ok" ? [] : [`${name}: ${message} ${remedy ?? ""}`],
  );
  const inEnvironment = [KEY_VARIABLE, "GOOGLE_API_KEY"].some((name) => (environment[name] ?? "").trim() !== "");
  const inFile = settings.GEMINI_API_KEY !== undefined && !inEnvironment;
  if (vertex || inFile) return remarks;
  if (!inEnvironment) {
    return [
      ...remarks,
      `No key is set. Start the client with ${KEY_VARIABLE} in its environment, or write it into ${file}.`,
    ];
  }
  const without = outcomes.filter(({ client }) => CLIENTS.find(({ name }) => name === client)?.passesKey === false);
  return [
    ...remarks,
    ...without.map(({ title }) => `${title} passes no variable on: write {"${KEY_VARIABLE}": "…"} into ${file}.`),
  ];
}

function projectRemarks({ options, launches }: Setup): string[] {
  if (options.scope !== "project") return [];
  const trust = "A client uses project files only after you have trusted the folder in it.";
  if (options.http || launches.onPath) return [trust];
  return [trust, "The entry holds paths of this machine: do not share the file."];
}
