/** Gemini CLI, headless and at a terminal. */

import {
  type Client,
  type ClientContext,
  type ServerConnection,
  MODEL_KEY,
  SERVER_NAME,
  writeSettings,
} from "./client.ts";
import { geminiContent } from "./gemini-content.ts";

const serverSettings = (connection: ServerConnection): object =>
  connection.transport === "stdio"
    ? { command: connection.command, args: connection.args, env: connection.env }
    : { httpUrl: connection.url, headers: { Authorization: `Bearer ${connection.token}` } };

function writeConfig({ home, connection, modelUrl }: ClientContext): Record<string, string> {
  writeSettings(home, ".gemini/settings.json", {
    security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    mcpServers: { [SERVER_NAME]: serverSettings(connection) },
  });
  return { GOOGLE_GEMINI_BASE_URL: modelUrl, GEMINI_API_KEY: MODEL_KEY };
}

const MODEL = ["-m", "gemini-2.5-flash"];

export const geminiCli: Client = {
  name: "gemini-cli",
  package: "@google/gemini-cli",
  version: "0.61.0",
  bin: "gemini",
  api: geminiContent,
  prepare: (context) => ({
    args: ["-p", context.prompt, "--yolo", "--skip-trust", "-o", "stream-json", ...MODEL],
    env: writeConfig(context),
  }),
  interactive: (context) => ({
    args: MODEL,
    env: writeConfig(context),
    ready: /Type your message/,
    approval: { shows: /Allow execution of MCP tool|Allow (?:once|tool)/i, keys: ["Down", "Down", "Enter"] },
    interrupt: ["Escape"],
    menus: { server: "/mcp", prompts: "/fact", resources: "@research" },
  }),
};
