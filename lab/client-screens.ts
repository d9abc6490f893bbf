/**
 * Prints what a person sees in real MCP clients at a terminal, with a scripted model and a simulated Google:
 * `npx node lab/client-screens.ts [--client name] [--scene name] [--transport stdio|http]`. Needs tmux and the built program.
 */

import { execFile } from "node:child_process";
import { parseArgs, promisify } from "node:util";
import { claudeCode } from "./clients/claude-code.ts";
import type { Client } from "./clients/client.ts";
import { openClientTerminal } from "./clients/client-terminal.ts";
import { codex } from "./clients/codex.ts";
import { geminiCli } from "./clients/gemini-cli.ts";
import { opencode } from "./clients/opencode.ts";
import { instructionsIn } from "./clients/judge.ts";
import type { Model } from "./clients/model.ts";
import { type Scene, SCENES } from "./clients/scenes.ts";
import { wireFacts } from "./clients/wire.ts";
import { openWorld, type Transport, type World } from "./clients/world.ts";

const { values } = parseArgs({
  options: {
    client: { type: "string" },
    scene: { type: "string" },
    transport: { type: "string", default: "stdio" },
  },
});

const COLUMNS = 100;
const ROWS = 50;

const run = promisify(execFile);

const transport: Transport = values.transport === "http" ? "http" : "stdio";
const clients = [claudeCode, codex, geminiCli, opencode].filter(({ name }) => name === (values.client ?? name));
const scenes = SCENES.filter(({ name }) => name === (values.scene ?? name));
if (clients.length * scenes.length === 0) throw new Error("There is no such client or scene.");

/** Three empty lines say no more than one. */
const print = (title: string, text: string): void =>
  void process.stdout.write(`### ${title}\n\n\`\`\`text\n${text.trim().replaceAll(/\n{3,}/g, "\n\n")}\n\`\`\`\n\n`);

/** What our server knows, beside what the client shows. */
async function serverView({ connection, wire }: World, model: Model): Promise<string> {
  const facts = wireFacts(wire());
  const cancels = `cancellations received: ${facts.cancelled}\nlines of our instructions, to its model: ${instructionsIn(model, facts)}`;
  if (connection.transport === "http") return cancels;
  const [, , node = "", ...program] = connection.args;
  const { stdout } = await run(node, [...program, "list"], { env: connection.env });
  return `${cancels}\nruns: ${stdout.trim() || "none"}`;
}

/** Every tool is asked about once; one dialog of each client is enough. */
const approved = new Set<string>();

function printApproval(client: Client, screen: string): void {
  if (approved.has(client.name)) return;
  approved.add(client.name);
  print(`${client.name} ${client.version}: approval of a tool`, screen);
}

async function playScene(client: Client, scene: Scene): Promise<void> {
  const world = await openWorld(client, transport, { scenario: scene.scenario, settings: scene.settings ?? {} });
  const title = (what: string): string => `${client.name} ${client.version}, ${scene.name}: ${what}`;
  try {
    const terminal = await openClientTerminal(client, world, {
      script: scene.script(),
      columns: COLUMNS,
      rows: ROWS,
      onApproval: (screen) => printApproval(client, screen),
    });
    const shoot = async (what: string): Promise<void> => print(title(what), await terminal.screen());
    try {
      await scene.play({
        ...terminal,
        shoot,
        showServer: async () => print(title("our server"), await serverView(world, terminal.model)),
      });
    } finally {
      await terminal.close();
      await terminal.model.close();
    }
  } finally {
    await world.close();
  }
}

for (const client of clients) {
  for (const scene of scenes) {
    await playScene(client, scene).catch((error: unknown) => {
      process.exitCode = 1;
      print(`${client.name}, ${scene.name}: failed`, String(error));
    });
  }
}
