/** A command at a terminal that asks its questions: each answer is typed when its question has appeared. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { onTestFinished } from "vitest";
import { BIN } from "./server.ts";

/** It gives a command a terminal; that of other systems is called differently. */
const SCRIPT = "/usr/bin/script";

export const hasDialogues = process.platform === "linux" && existsSync(SCRIPT);

export const ENTER = "\r";
export const CONTROL_C = "\u0003";
export const DOWN = "\u001B[B";

/** An empty answer only waits for the text. */
export type Dialogue = [question: string, typed: string][];

interface DialogueOptions {
  env: Record<string, string>;
  cwd?: string;
  dialogue?: Dialogue;
}

export async function atTerminal(
  args: string,
  { env, cwd, dialogue = [] }: DialogueOptions,
): Promise<{ code: unknown; seen: string }> {
  const command = `/bin/stty cols 120 rows 40; exec '${process.execPath}' '${BIN}' ${args}`;
  const child = spawn(SCRIPT, ["-qec", command, "/dev/null"], { env: { TERM: "xterm", ...env }, cwd });
  onTestFinished(() => void child.kill("SIGKILL"));
  let seen = "";
  let read = 0;
  const rest = [...dialogue];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    seen += stripVTControlCharacters(text);
    // Several of them may have come at once.
    for (let [next] = rest; next !== undefined; [next] = rest) {
      const [question, typed] = next;
      const found = seen.indexOf(question, read);
      if (found === -1) return;
      rest.shift();
      read = found + question.length;
      child.stdin.write(typed);
    }
  });
  const [code]: unknown[] = await once(child, "close");
  return { code, seen };
}
