/** OpenCode, headless. */

import { type Client, type ServerConnection, MODEL_KEY, SERVER_NAME, writeSettings } from "./client.ts";
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

export const opencode: Client = {
  name: "opencode",
  package: "opencode-ai",
  version: "1.18.33",
  bin: "opencode",
  api: openaiChat,
  prepare({ home, connection, modelUrl, prompt }) {
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
      args: ["run", "--auto", "--pure", prompt],
      env: {
        OPENCODE_CONFIG: config,
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      },
    };
  },
};
