/** OpenCode, headless and at a terminal. */

import {
  type Client,
  type ClientContext,
  type ServerConnection,
  MODEL_KEY,
  SERVER_NAME,
  writeSettings,
} from "./client.ts";
import { openaiChat } from "./openai-chat.ts";

const serverSettings = (connection: ServerConnection): object =>
  connection.transport === "stdio"
    ? { type: "local", command: [connection.command, ...connection.args], environment: connection.env, enabled: true }
    : {
        type: "remote",
        url: connection.url,
        headers: { Authorization: `Bearer ${connection.token}` },
        oauth: false,
        enabled: true,
      };

function writeConfig({ home, connection, modelUrl }: ClientContext): Record<string, string> {
  const config = writeSettings(home, "opencode.json", {
    autoupdate: false,
    share: "disabled",
    model: "lab/lab",
    small_model: "lab/lab",
    provider: {
      lab: {
        npm: "@ai-sdk/openai-compatible",
        name: "lab",
        options: { baseURL: `${modelUrl}/v1`, apiKey: MODEL_KEY },
        models: { lab: { name: "lab", tool_call: true, limit: { context: 1_000_000, output: 32_000 } } },
      },
    },
    mcp: { [SERVER_NAME]: serverSettings(connection) },
  });
  return {
    OPENCODE_CONFIG: config,
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  };
}

export const opencode: Client = {
  name: "opencode",
  package: "opencode-ai",
  version: "1.18.33",
  bin: "opencode",
  api: openaiChat,
  prepare: (context) => ({ args: ["run", "--auto", "--pure", context.prompt], env: writeConfig(context) }),
  interactive: (context) => ({
    args: ["--pure"],
    env: writeConfig(context),
    ready: /Ask anything/,
    interrupt: ["Escape", "Escape"],
    menus: { server: "/mcps", prompts: "/fact", resources: "@runs" },
  }),
};
