/** The questions of `init` at a terminal. */

import { confirm, isCancel, multiselect, select } from "@clack/prompts";

/** Stdout is reserved for the answer. */
const output = process.stderr;

export interface Choice {
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

/** Undefined when the user aborted. */
export async function confirmWrite(message: string, { proposed }: { proposed: boolean }): Promise<boolean | undefined> {
  const answer = await confirm({ message, initialValue: proposed, output });
  return isCancel(answer) ? undefined : answer;
}

const SOURCE_LINKS = `May Google's redirect links in sources be resolved to the pages' addresses?
You are asked because Google's terms leave this to you: docs/google-terms.md.`;

export async function askAboutSourceLinks(): Promise<"keep" | "resolve" | "later" | "aborted"> {
  const answer = await select<"keep" | "resolve" | "later">({
    message: SOURCE_LINKS,
    options: [
      { value: "keep", label: "No", hint: "links stay as Google sends them" },
      { value: "resolve", label: "Yes", hint: "one request to Google per link when a run ends; no page is read" },
      { value: "later", label: "Ask me next time" },
    ],
    initialValue: "keep",
    output,
  });
  return isCancel(answer) ? "aborted" : answer;
}
