/** Runs a scene's commands in a real terminal and waits until the screen shows the expected text. */

import { expect } from "vitest";
import { ensureSystemPackages } from "../../../scripts/system-packages.ts";
import { openTerminal, type Terminal } from "../../../scripts/tmux.ts";
import { childrenOf, isAlive } from "./processes.ts";
import type { Ending } from "./scene.ts";
import { BIN } from "./server.ts";
import { waitFor } from "../wait-for.ts";

export const terminals = (): Promise<"ready" | "missing"> => ensureSystemPackages(["tmux"], { commands: ["tmux"] });

export interface UserTerminal extends Terminal {
  /** Waits until the screen matches and returns it as one text. */
  until(pattern: RegExp): Promise<string>;
}

export interface Size {
  columns: number;
  rows: number;
}

const SETUP = `gemini-search-mcp() { ${process.execPath} ${BIN} "$@"; }`;

export async function openUserTerminal(
  { onTestFinished }: Ending,
  env: Record<string, string>,
  { columns, rows }: Size = { columns: 80, rows: 24 },
): Promise<UserTerminal> {
  const terminal = await openTerminal({ env, columns, rows, setup: SETUP });
  onTestFinished(async () => {
    // Processes in the terminal may write into the scene's folder until they have exited.
    const running = childrenOf(Number(await terminal.readVariable("pane_pid"))).living;
    await terminal.close();
    await waitFor(() => expect(running.filter(isAlive)).toEqual([]), { interval: 20 });
  });
  const until: UserTerminal["until"] = (pattern) =>
    waitFor(
      async () => {
        const seen = (await terminal.screen()).join("\n");
        expect(seen).toMatch(pattern);
        return seen;
      },
      { interval: 50 },
    );
  await until(/^\$/);
  return { ...terminal, until };
}
