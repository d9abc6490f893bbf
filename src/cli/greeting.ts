/** What the bare command prints at a terminal: whether it is set up, and what to do next. */

import { readPackage } from "../app.ts";
import { type Config, loadConfig } from "../config/config.ts";
import { readEnvironment } from "../config/environment.ts";
import { checkCli } from "../doctor/gemini.ts";
import { KEY_PAGE } from "../gemini/failures.ts";
import { type Connection, findConnections } from "../setup/connection.ts";
import { print } from "./output.ts";
import { shell } from "./render/answer-view.ts";
import { type Paint, paintFor } from "./render/paint.ts";

export async function printGreeting(): Promise<void> {
  const config = loadConfig({ environment: readEnvironment() });
  const { home, environment } = config;
  const paths = { platform: process.platform, home, project: process.cwd(), environment };
  const paint = paintFor(process.stdout);
  await print(
    [
      `${paint("strong", `gemini-search-mcp ${readPackage().version}`)}  Web research through Google Gemini`,
      "",
      ...nextSteps({ canAsk: canReachGemini(config), connections: await findConnections(paths), paint }),
      "",
      paint("faint", "An MCP client that starts this command gets the server on stdin and stdout."),
    ].join("\n"),
  );
}

/** Without a request: a key may still be wrong, which the first answer or `doctor` reports. */
const canReachGemini = (config: Config): boolean =>
  config.vertex ||
  config.settings.GEMINI_API_KEY !== undefined ||
  checkCli(config).every(({ status }) => status === "ok");

interface Situation {
  canAsk: boolean;
  connections: Connection[];
  paint: Paint;
}

const SEARCH: Step = ['search "What is a heat pump?"', "get an answer now"];
const DEMO: Step = ["demo", "try it without a key"];
const DOCTOR: Step = ["doctor", "check this installation"];
const HELP: Step = ["--help", "see all commands"];

function nextSteps({ canAsk, connections, paint }: Situation): string[] {
  const connected = connections.filter(({ entries }) => entries.length > 0).map(({ client }) => client.title);
  if (!canAsk) {
    const start: Step = ["init", "enter the key and connect your assistants"];
    return [`No Gemini API key found. Get one at ${KEY_PAGE}, then:`, "", ...steps([start, DEMO, DOCTOR, HELP], paint)];
  }
  if (connected.length === 0) {
    const connect: Step = ["init", "connect your assistants (Claude Code, Codex, Cursor …)"];
    return ["Ready to search; no assistant is connected yet.", "", ...steps([connect, SEARCH, DOCTOR, HELP], paint)];
  }
  const page: Step = ["open", "see your research in the browser"];
  const connect: Step = ["init", "connect another assistant"];
  return [`Connected to ${connected.join(", ")}.`, "", ...steps([SEARCH, page, connect, DOCTOR, HELP], paint)];
}

type Step = [command: string, purpose: string];

function steps(rows: Step[], paint: Paint): string[] {
  const width = Math.max(...rows.map(([command]) => command.length));
  return rows.map(([command, purpose]) => `  ${paint("accent", shell(command.padEnd(width)))}  ${purpose}`);
}
