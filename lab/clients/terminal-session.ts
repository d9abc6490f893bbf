/** One question in a client's terminal, as a session that can be judged. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "./client.ts";
import { openClientTerminal, SETTLE_MS } from "./client-terminal.ts";
import type { Script } from "./model.ts";
import { DONE, QUESTION } from "./script.ts";
import type { Session } from "./session.ts";
import type { World } from "./world.ts";

const MAX_ANSWER_MS = 120_000;

export async function startTerminalSession(client: Client, world: World, script: Script): Promise<Session> {
  const terminal = await openClientTerminal(client, world, { script, columns: 120, rows: 60 });
  const began = Date.now();
  let screen = "";
  const play = async (): Promise<{ code: number | null; seconds: number }> => {
    await terminal.ask(`Search this with the tools of the server: ${QUESTION}`);
    const answered = await terminal.until((text) => text.includes(DONE), MAX_ANSWER_MS);
    const seconds = (Date.now() - began) / 1_000;
    // The turn may continue after its answer; later output counts as well.
    await sleep(SETTLE_MS);
    screen = await terminal.screen();
    await terminal.close();
    return { code: answered ? 0 : null, seconds };
  };
  return { model: terminal.model, output: () => screen, ended: play(), kill: () => void terminal.close() };
}
