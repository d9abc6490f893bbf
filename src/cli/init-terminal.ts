/** What `init` asks at a terminal: which clients, and whether a change may be written. */

import { confirm, isCancel, multiselect } from "@clack/prompts";

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
