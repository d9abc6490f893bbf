/** The processes of a scene, each started when it is first used: servers on stdio and HTTP, commands, a terminal. */

import { spawn } from "node:child_process";
import { expect, type TestContext } from "vitest";
import { UI_CAPABILITIES } from "../kit/chat/chat-host.ts";
import { type RunningHttpServer, startHttpServer } from "../kit/server/http-server.ts";
import type { Scene } from "../kit/server/scene.ts";
import { BIN, type Era, NODE_ARGUMENTS, type RunningServer } from "../kit/server/server.ts";
import { openTasks, type Tasks } from "../kit/server/tasks.ts";
import { waitFor } from "../kit/wait-for.ts";

/** Logged in the background while the server begins to listen, before or after it does. */
const CLEANED_UP = /^\[INFO\] Cleaned up 0 .*\n/m;

/** The protocol era of a client. */
export type Client = "2025" | "2026";

interface Connected {
  client: RunningServer["client"];
  tasks: Tasks;
}

export function createDoors({
  context,
  scene,
  env,
}: {
  context: TestContext;
  scene: Scene;
  env: Record<string, string>;
}) {
  const { configDir } = scene;
  const stdio: RunningServer[] = [];
  let serving: Promise<RunningHttpServer> | undefined;
  const clients = new Map<Client, Promise<Connected>>();

  const server = (): Promise<RunningHttpServer> => {
    serving ??= startHttpServer({ env: { ...env, RESEARCH_MAX_RPS: "0" }, configDir }).then((started) => {
      context.onTestFinished(() => started.close());
      return started;
    });
    return serving;
  };
  const stdioClient = async (era: Era = "legacy", more: Record<string, string> = {}): Promise<Connected> => {
    const started = await scene.server({ era, env: { ...env, ...more }, capabilities: UI_CAPABILITIES });
    stdio.push(started);
    // It opens the database with the first call, or a few seconds after its start.
    await started.call("check_research_status", { task_id: "none" });
    await waitFor(() => expect(started.stderr()).toContain("Cleaned up"));
    return { client: started.client, tasks: openTasks(started) };
  };
  const httpClient = async (): Promise<Connected> => {
    const { client } = await (await server()).connect("modern");
    return { client, tasks: openTasks({ client }) };
  };
  return {
    server,
    stdioClient,
    client: (client: Client): Promise<Connected> => {
      const connected = clients.get(client) ?? (client === "2025" ? stdioClient() : httpClient());
      clients.set(client, connected);
      return connected;
    },
    /** Ends the server on stdio, as a client does; the next call starts another, with these settings. */
    restart: async (more: Record<string, string> = {}): Promise<void> => {
      await stdio.at(-1)?.close();
      clients.set("2025", stdioClient("legacy", more));
      await clients.get("2025");
    },
    piped: (args: string[]) => scene.command(args, { env, cwd: configDir }),
    typed: (args: string[]) => atTerminal(context, args, { env: { ...env, TERM: "xterm-256color" }, cwd: configDir }),
    close: async (): Promise<void> => {
      for (const one of stdio) await one.close();
      await (await serving)?.close();
    },
    logs: async (): Promise<[string, string][]> => [
      ...stdio.map((one, index): [string, string] => [`log of the server on stdio, ${index + 1}`, one.stderr()]),
      ["log of the server on HTTP", ((await serving)?.stderr() ?? "").replace(CLEANED_UP, "")],
    ],
  };
}

const COLUMNS = 100;
const ESCAPE = "\u001B";

/** Of a view on the whole screen nothing stays; a slow machine has time to show one. */
const WHOLE_SCREEN = new RegExp(String.raw`${ESCAPE}\[\?1049h[^]*?${ESCAPE}\[\?1049l`, "g");

/** What a terminal shows in the end: lines that were erased are left out, and escape characters are visible. */
function shownAt(raw: string): string {
  const lines = raw.replaceAll(WHOLE_SCREEN, "").replaceAll("\r\n", "\n").split("\n");
  return lines.map((line) => line.split(`\r${ESCAPE}[2K`).at(-1)?.replaceAll(ESCAPE, "␛")).join("\n");
}

interface TerminalOptions {
  env: Record<string, string>;
  cwd: string;
}

/** Runs a command at a terminal of its own, which util-linux's `script` provides. */
async function atTerminal({ onTestFinished }: TestContext, args: string[], options: TerminalOptions): Promise<string> {
  const quoted = [process.execPath, ...NODE_ARGUMENTS, BIN, ...args].map((arg) => `'${arg.replaceAll("'", `'\\''`)}'`);
  const command = `stty cols ${COLUMNS} rows 50; exec ${quoted.join(" ")}`;
  const stdio: ["ignore", "pipe", "ignore"] = ["ignore", "pipe", "ignore"];
  const child = spawn("script", ["-qec", command, "/dev/null"], { ...options, stdio });
  onTestFinished(() => void child.kill("SIGKILL"));
  let raw = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (raw += text));
  const code = await new Promise((resolve) => child.once("close", resolve));
  return `${shownAt(raw)}--- exit ${String(code)}`;
}
