/** What `init` asks at a terminal: which clients, whether a change may be written, and what to do with redirect links. */

import { confirm, isCancel, multiselect, select } from "@clack/prompts";

/** Stdout is for answers. */
const output = process.stderr;

export interface Choice {
  value: string;
  label: string;
  hint: string;
  /** Proposed. */
  wanted: boolean;
}

/** Undefined: the user left. */
export async function chooseClients(message: string, choices: Choice[]): Promise<string[] | undefined> {
  const chosen = await multiselect({
    message,
    options: choices.map(({ value, label, hint }) => ({ value, label, hint })),
    initialValues: choices.filter(({ wanted }) => wanted).map(({ value }) => value),
    required: false,
    output,
  });
  return isCancel(chosen) ? undefined : chosen;
}

/** Undefined: the user left. */
export async function mayWrite(message: string, { proposed }: { proposed: boolean }): Promise<boolean | undefined> {
  const answer = await confirm({ message, initialValue: proposed, output });
  return isCancel(answer) ? undefined : answer;
}

const SOURCE_LINKS = `May Google's redirect links in sources be resolved to the pages' addresses?
You are asked because Google's terms leave this to you: docs/google-terms.md.`;

export async function askAboutSourceLinks(): Promise<"keep" | "resolve" | "later" | "left"> {
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
  return isCancel(answer) ? "left" : answer;
}
