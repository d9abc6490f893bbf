/** Gemini CLI, headless. */

import { type Client, type ServerConnection, MODEL_KEY, SERVER_NAME, writeSettings } from "./client.ts";
import { geminiContent } from "./gemini-content.ts";

const serverSettings = (connection: ServerConnection): object =>
  connection.transport === "stdio"
    ? { command: connection.command, args: connection.args, env: connection.env }
    : { httpUrl: connection.url, headers: { Authorization: `Bearer ${connection.token}` } };

export const geminiCli: Client = {
  name: "gemini-cli",
  package: "@google/gemini-cli",
  version: "0.61.0",
  bin: "gemini",
  api: geminiContent,
  prepare({ home, connection, modelUrl, prompt }) {
    writeSettings(home, ".gemini/settings.json", {
      security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      mcpServers: { [SERVER_NAME]: serverSettings(connection) },
    });
    return {
      args: ["-p", prompt, "--yolo", "--skip-trust", "-o", "stream-json", "-m", "gemini-2.5-flash"],
      env: { GOOGLE_GEMINI_BASE_URL: modelUrl, GEMINI_API_KEY: MODEL_KEY },
    };
  },
};
