/** Claude Code, headless and at a terminal. */

import { realpathSync } from "node:fs";
import { anthropicMessages } from "./anthropic-messages.ts";
import { type Client, type ServerConnection, MODEL_KEY, SERVER_NAME, writeSettings } from "./client.ts";

const serverSettings = (connection: ServerConnection): object =>
  connection.transport === "stdio"
    ? { type: "stdio", command: connection.command, args: connection.args, env: connection.env }
    : { type: "http", url: connection.url, headers: { Authorization: `Bearer ${connection.token}` } };

const ENVIRONMENT = {
  ANTHROPIC_API_KEY: MODEL_KEY,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_TELEMETRY: "1",
  DISABLE_ERROR_REPORTING: "1",
};

const serverArguments = (home: string, connection: ServerConnection): string[] => {
  const config = writeSettings(home, "mcp.json", { mcpServers: { [SERVER_NAME]: serverSettings(connection) } });
  return ["--mcp-config", config, "--strict-mcp-config"];
};

export const claudeCode: Client = {
  name: "claude-code",
  package: "@anthropic-ai/claude-code",
  version: "2.1.328",
  bin: "claude",
  api: anthropicMessages,
  prepare: ({ home, connection, modelUrl, prompt }) => ({
    args: ["-p", prompt, ...serverArguments(home, connection), "--allowedTools", `mcp__${SERVER_NAME}`],
    env: { ...ENVIRONMENT, ANTHROPIC_BASE_URL: modelUrl },
  }),
  interactive({ home, work, connection, modelUrl }) {
    // The state after the first start, whose questions are not part of the trial.
    const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
    writeSettings(home, ".claude.json", {
      hasCompletedOnboarding: true,
      theme: "dark",
      customApiKeyResponses: { approved: [MODEL_KEY.slice(-20)], rejected: [] },
      projects: { [realpathSync(work)]: project },
    });
    const env = { ...ENVIRONMENT, ANTHROPIC_BASE_URL: modelUrl };
    return {
      // Its own default, "auto", needs a check by Anthropic's servers.
      args: [...serverArguments(home, connection), "--permission-mode", "default"],
      env,
      ready: /^❯/m,
      approval: { shows: /Do you want to proceed/, keys: ["2"] },
      interrupt: ["Escape"],
      menus: { server: "/mcp", prompts: "/gemini", resources: "@gemini" },
      detailsKey: "C-o",
    };
  },
};
