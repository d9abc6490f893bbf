/** A client in a real terminal: types the question and reads the answer from the screen. */

import { setTimeout as sleep } from "node:timers/promises";
import { openTerminal, type Terminal } from "../../scripts/tmux.ts";
import type { Client } from "./client.ts";
import { type Script, startModel } from "./model.ts";
import { DONE, QUESTION } from "./script.ts";
import type { Session } from "./session.ts";
import type { World } from "./world.ts";

const MAX_START_MS = 60_000;
const MAX_ANSWER_MS = 120_000;
/** The turn may continue after its answer; later output counts as well. */
const SETTLE_MS = 3_000;

export async function startTerminalSession(client: Client, world: World, script: Script): Promise<Session> {
  if (client.interactive === undefined) throw new Error(`${client.name} has no interactive trial.`);
  const model = await startModel(client.api, script);
  const { home, work, connection, folder } = world;
  const { args, env, ready } = client.interactive({ home, work, connection, modelUrl: model.url, prompt: "" });
  const terminal = await openTerminal({
    env: { ...world.env, LAB_FOLDER: folder, ...env, TERM: "xterm-256color" },
    columns: 120,
    rows: 60,
    setup: `cd '${work}'`,
  });
  const began = Date.now();
  let screen = "";
  const shows = async (pattern: RegExp, ms: number): Promise<boolean> => {
    for (const until = Date.now() + ms; Date.now() < until; await sleep(200)) {
      screen = await textOf(terminal);
      if (pattern.test(screen)) return true;
    }
    return false;
  };
  const play = async (): Promise<{ code: number | null; seconds: number }> => {
    await terminal.type([world.bin, ...args].join(" "));
    const isReady = await shows(ready, MAX_START_MS);
    if (isReady) await typeQuestion(terminal);
    const answered = isReady && (await shows(new RegExp(DONE), MAX_ANSWER_MS));
    const seconds = (Date.now() - began) / 1_000;
    await sleep(SETTLE_MS);
    screen = await textOf(terminal);
    await terminal.close();
    return { code: answered ? 0 : null, seconds };
  };
  return { model, output: () => screen, ended: play(), kill: () => void terminal.close() };
}

/** Types slowly: keys in one burst are taken for pasted text, and Enter for a part of it. */
async function typeQuestion(terminal: Terminal): Promise<void> {
  await sleep(SETTLE_MS);
  await terminal.typeKeys(`Search this with the tools of the server: ${QUESTION}`);
  await sleep(1_000);
  await terminal.key("Enter");
}

const textOf = async (terminal: Terminal): Promise<string> =>
  (await terminal.screen()).filter((line) => line.trim() !== "").join("\n");
