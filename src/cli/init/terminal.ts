/** The questions of `init` at a terminal. */

import { join } from "node:path";
import { confirm, isCancel, log, multiselect, password, select } from "@clack/prompts";
import type { Config } from "../../config/config.ts";
import { AppError } from "../../errors.ts";
import { tilde } from "../render/home-path.ts";
import { isSet, setOnce } from "../../setup/own-setting.ts";

/** Stdout is reserved for the answer. */
const output = process.stderr;

interface Choice {
  value: string;
  label: string;
  hint: string;
  /** Selected at first. */
  preselected: boolean;
}

/** Undefined when the user aborted. */
export async function chooseClients(message: string, choices: Choice[]): Promise<string[] | undefined> {
  const chosen = await multiselect({
    message,
    options: choices.map(({ value, label, hint }) => ({ value, label, hint })),
    initialValues: choices.filter(({ preselected }) => preselected).map(({ value }) => value),
    required: false,
    output,
  });
  return isCancel(chosen) ? undefined : chosen;
}

/** Masked while it is typed; empty if the user skips it, undefined when the user aborted. */
export async function askForKey(message: string): Promise<string | undefined> {
  const answer: unknown = await password({ message, output, validate: keyProblem });
  if (isCancel(answer)) return undefined;
  return typeof answer === "string" ? answer.trim() : "";
}

const keyProblem = (typed: string | undefined): string | undefined =>
  /^[\u0021-\u007e]*$/.test(typed?.trim() ?? "") ? undefined : "A key contains no spaces or special characters.";

export function showFinding({
  verdict,
  message,
}: {
  verdict: "works" | "rejected" | "unknown";
  message: string;
}): void {
  const show = { works: log.success, rejected: log.error, unknown: log.warn }[verdict];
  show(message, { output });
}

/** Undefined when the user aborted. */
export async function confirmStep(message: string, { proposed }: { proposed: boolean }): Promise<boolean | undefined> {
  const answer = await confirm({ message, initialValue: proposed, output });
  return isCancel(answer) ? undefined : answer;
}

const SOURCE_LINKS = `Google's links to sources stop working after 30 days. Keep the real addresses?
Google's terms leave this decision to you: they name the automated collection
of links as misuse; we think your own reports are none.`;

async function askAboutSourceLinks(): Promise<"keep" | "resolve" | "later" | "aborted"> {
  const answer = await select<"keep" | "resolve" | "later">({
    message: SOURCE_LINKS,
    options: [
      { value: "keep", label: "No", hint: "reports keep Google's links; the pages are unknown once they expire" },
      {
        value: "resolve",
        label: "Yes",
        hint: "when a run ends, Google is asked once per link where it leads; no page is read",
      },
      { value: "later", label: "Ask me next time" },
    ],
    initialValue: "keep",
    output,
  });
  return isCancel(answer) ? "aborted" : answer;
}

const SETTING = "RESOLVE_SOURCE_LINKS";

/** Returns the decision as remarks; undefined when the user aborted. */
export async function decideSourceLinks({ configDir, environment, home }: Config): Promise<string[] | undefined> {
  const file = join(configDir, "config.json");
  try {
    if ((environment[SETTING] ?? "").trim() !== "" || (await isSet({ file, name: SETTING }))) return [];
    const answer = await askAboutSourceLinks();
    if (answer === "aborted") return undefined;
    if (answer === "later") return [];
    const isOurs = await setOnce({ file, name: SETTING, value: answer === "resolve" });
    if (!isOurs) return [`${SETTING} has just been set by another program; it was not changed.`];
    const decision =
      answer === "resolve" ? "Reports will have the real addresses of their sources" : "Reports keep Google's links";
    return [`${decision} (${SETTING} in ${tilde(file, home)}).`];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [`${SETTING} could not be saved: ${error.message}`];
  }
}
