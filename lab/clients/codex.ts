/** Codex, headless. */

import { type Client, type ServerConnection, MODEL_KEY, SERVER_NAME, writeSettings } from "./client.ts";
import { openaiResponses } from "./openai-responses.ts";

/** JSON strings and arrays of strings are also valid TOML. */
const toml = (values: Record<string, string | string[] | boolean>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    .join("\n");

function serverSettings(connection: ServerConnection): string {
  const table = `[mcp_servers.${SERVER_NAME}]`;
  if (connection.transport === "http") {
    return [table, toml({ url: connection.url, bearer_token_env_var: "LAB_TOKEN", required: true })].join("\n");
  }
  const { command, args, env } = connection;
  return [table, toml({ command, args, required: true }), `[mcp_servers.${SERVER_NAME}.env]`, toml(env)].join("\n");
}

export const codex: Client = {
  name: "codex",
  package: "@openai/codex",
  version: "0.166.0",
  bin: "codex",
  api: openaiResponses,
  prepare({ home, work, connection, modelUrl, prompt }) {
    const provider = { name: "lab", base_url: `${modelUrl}/v1`, wire_api: "responses", env_key: "LAB_KEY" };
    const config = [
      toml({ model: "gpt-5.5", model_provider: "lab", check_for_update_on_startup: false }),
      "[analytics]\nenabled = false",
      `[model_providers.lab]\n${toml(provider)}`,
      serverSettings(connection),
    ];
    writeSettings(home, ".codex/config.toml", config.join("\n"));
    return {
      // There is no user to approve anything, and the only model is the scripted one.
      args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-C", work, prompt],
      env: { LAB_KEY: MODEL_KEY, ...(connection.transport === "http" && { LAB_TOKEN: connection.token }) },
    };
  },
};
