/** Gemini CLI, headless. */

import { type Client, type Door, MODEL_KEY, SERVER_NAME, writeSettings } from "./client.ts";
import { geminiContent } from "./gemini-content.ts";

const serverSettings = (door: Door): object =>
  door.transport === "stdio"
    ? { command: door.command, args: door.args, env: door.env }
    : { httpUrl: door.url, headers: { Authorization: `Bearer ${door.token}` } };

export const geminiCli: Client = {
  name: "gemini-cli",
  package: "@google/gemini-cli",
  version: "0.61.0",
  bin: "gemini",
  api: geminiContent,
  prepare({ home, door, modelUrl, prompt }) {
    writeSettings(home, ".gemini/settings.json", {
      security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      mcpServers: { [SERVER_NAME]: serverSettings(door) },
    });
    return {
      args: ["-p", prompt, "--yolo", "--skip-trust", "-o", "stream-json", "-m", "gemini-2.5-flash"],
      env: { GOOGLE_GEMINI_BASE_URL: modelUrl, GEMINI_API_KEY: MODEL_KEY },
    };
  },
};
