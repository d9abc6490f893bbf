/** Claude Code, headless and at a terminal. */

import { realpathSync } from "node:fs";
import { anthropicMessages } from "./anthropic-messages.ts";
import { type Client, type Door, MODEL_KEY, SERVER_NAME, writeSettings } from "./client.ts";

const serverSettings = (door: Door): object =>
  door.transport === "stdio"
    ? { type: "stdio", command: door.command, args: door.args, env: door.env }
    : { type: "http", url: door.url, headers: { Authorization: `Bearer ${door.token}` } };

const ENVIRONMENT = {
  ANTHROPIC_API_KEY: MODEL_KEY,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_TELEMETRY: "1",
  DISABLE_ERROR_REPORTING: "1",
};

const serverArguments = (home: string, door: Door): string[] => {
  const config = writeSettings(home, "mcp.json", { mcpServers: { [SERVER_NAME]: serverSettings(door) } });
  return ["--mcp-config", config, "--strict-mcp-config", "--allowedTools", `mcp__${SERVER_NAME}`];
};

export const claudeCode: Client = {
  name: "claude-code",
  package: "@anthropic-ai/claude-code",
  version: "2.1.325",
  bin: "claude",
  api: anthropicMessages,
  prepare: ({ home, door, modelUrl, prompt }) => ({
    args: ["-p", prompt, ...serverArguments(home, door)],
    env: { ...ENVIRONMENT, ANTHROPIC_BASE_URL: modelUrl },
  }),
  interactive({ home, work, door, modelUrl }) {
    // As after its first start: the questions of that are not what is tried here.
    const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
    writeSettings(home, ".claude.json", {
      hasCompletedOnboarding: true,
      theme: "dark",
      customApiKeyResponses: { approved: [MODEL_KEY.slice(-20)], rejected: [] },
      projects: { [realpathSync(work)]: project },
    });
    const env = { ...ENVIRONMENT, ANTHROPIC_BASE_URL: modelUrl };
    return { args: serverArguments(home, door), env, ready: /^❯/m };
  },
};
