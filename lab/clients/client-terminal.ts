/** A client in a real terminal, driven as a person would: keys in, screens out. */

import { setTimeout as sleep } from "node:timers/promises";
import { openTerminal, type Terminal } from "../../scripts/tmux.ts";
import type { Client, TerminalLaunch } from "./client.ts";
import { type Model, type Script, startModel } from "./model.ts";
import { wireFacts } from "./wire.ts";
import type { World } from "./world.ts";

/** A busy machine may take minutes to start a client and our server. */
const MAX_START_MS = 240_000;
const MAX_DIALOG_MS = 10_000;
const MAX_DELIVERY_MS = 15_000;
const POLL_MS = 200;
/** After it is ready, a client still loads; after its answer, a turn may continue. */
export const SETTLE_MS = 3_000;

export interface ClientTerminal {
  model: Model;
  menus: TerminalLaunch["menus"];
  detailsKey: string | undefined;
  /** The screen without empty lines at the end. */
  screen(): Promise<string>;
  /** Waits for a condition of the screen; allows the calls of tools that the client asks about. */
  until(condition: (screen: string) => boolean, ms: number): Promise<boolean>;
  /** Types a line slowly and presses Enter: keys in one burst are taken for pasted text, and Enter for a part of it. */
  ask(text: string): Promise<void>;
  typeKeys(text: string): Promise<void>;
  key(name: string): Promise<void>;
  /** Interrupts the running call as the client asks for it. */
  interrupt(): Promise<void>;
  close(): Promise<void>;
}

interface ClientTerminalOptions {
  script: Script;
  columns: number;
  rows: number;
  /** Receives the screen with the dialog before a tool is allowed. */
  onApproval?: (screen: string) => void;
}

/** Resolves once a question can be typed and the client has our tools. */
export async function openClientTerminal(
  client: Client,
  world: World,
  { script, columns, rows, onApproval = () => {} }: ClientTerminalOptions,
): Promise<ClientTerminal> {
  const model = await startModel(client.api, script);
  const { home, work, connection, folder } = world;
  const launch = client.interactive({ home, work, connection, modelUrl: model.url, prompt: "" });
  const terminal = await openTerminal({
    env: { ...world.env, LAB_FOLDER: folder, ...launch.env, TERM: "xterm-256color" },
    columns,
    rows,
    setup: `cd '${work}'`,
  });
  const screen = async (): Promise<string> =>
    (await terminal.screen())
      .map((line) => line.trimEnd())
      .join("\n")
      .trimEnd();
  const until = async (condition: (screen: string) => boolean, ms: number): Promise<boolean> => {
    for (const end = Date.now() + ms; Date.now() < end; await sleep(POLL_MS)) {
      const text = await screen();
      if (launch.approval?.shows.test(text) === true) {
        onApproval(text);
        await pressKeys(terminal, launch.approval.keys);
        // The same keys would be typed into the prompt if the dialog were answered twice.
        for (let waited = 0; waited < MAX_DIALOG_MS && (await screen()) === text; waited += POLL_MS)
          await sleep(POLL_MS);
      } else if (condition(text)) return true;
    }
    return false;
  };
  await terminal.type([world.bin, ...launch.args].join(" "));
  const isReady = (text: string): boolean => launch.ready.test(text) && wireFacts(world.wire()).listed.length > 0;
  if (!(await until(isReady, MAX_START_MS))) {
    const last = await screen();
    await terminal.close();
    throw new Error(`${client.name} showed no prompt: ${last}`);
  }
  await sleep(SETTLE_MS);
  return {
    model,
    menus: launch.menus,
    detailsKey: launch.detailsKey,
    screen,
    until,
    ask: async (text) => {
      await terminal.typeKeys(text);
      await sleep(1_000);
      await terminal.key("Enter");
      // On a busy machine Enter is taken for a part of pasted text, too.
      const hasArrived = (): boolean => model.offered().length > 0;
      if (!(await until(hasArrived, MAX_DELIVERY_MS))) await terminal.key("Enter");
    },
    typeKeys: terminal.typeKeys,
    key: terminal.key,
    interrupt: () => pressKeys(terminal, launch.interrupt),
    close: terminal.close,
  };
}

async function pressKeys(terminal: Terminal, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    await sleep(500);
    await terminal.key(key);
  }
  await sleep(1_500);
}
