/** Claude Code, headless. */

import { anthropicMessages } from "./anthropic-messages.ts";
import { type Client, type Door, MODEL_KEY, SERVER_NAME, writeSettings } from "./client.ts";

const serverSettings = (door: Door): object =>
  door.transport === "stdio"
    ? { type: "stdio", command: door.command, args: door.args, env: door.env }
    : { type: "http", url: door.url, headers: { Authorization: `Bearer ${door.token}` } };

export const claudeCode: Client = {
  name: "claude-code",
  package: "@anthropic-ai/claude-code",
  version: "2.1.325",
  bin: "claude",
  api: anthropicMessages,
  prepare({ home, door, modelUrl, prompt }) {
    const config = writeSettings(home, "mcp.json", { mcpServers: { [SERVER_NAME]: serverSettings(door) } });
    return {
      args: ["-p", prompt, "--mcp-config", config, "--strict-mcp-config", "--allowedTools", `mcp__${SERVER_NAME}`],
      env: {
        ANTHROPIC_BASE_URL: modelUrl,
        ANTHROPIC_API_KEY: MODEL_KEY,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
        DISABLE_TELEMETRY: "1",
        DISABLE_ERROR_REPORTING: "1",
      },
    };
  },
};
