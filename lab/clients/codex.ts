/** Codex, headless. */

import { type Client, type Door, MODEL_KEY, SERVER_NAME, writeSettings } from "./client.ts";
import { openaiResponses } from "./openai-responses.ts";

/** JSON strings and arrays of them are TOML as well. */
const toml = (values: Record<string, string | string[] | boolean>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    .join("\n");

function serverSettings(door: Door): string {
  const table = `[mcp_servers.${SERVER_NAME}]`;
  if (door.transport === "http") {
    return [table, toml({ url: door.url, bearer_token_env_var: "LAB_TOKEN", required: true })].join("\n");
  }
  const { command, args, env } = door;
  return [table, toml({ command, args, required: true }), `[mcp_servers.${SERVER_NAME}.env]`, toml(env)].join("\n");
}

export const codex: Client = {
  name: "codex",
  package: "@openai/codex",
  version: "0.166.0",
  bin: "codex",
  api: openaiResponses,
  prepare({ home, work, door, modelUrl, prompt }) {
    const provider = { name: "lab", base_url: `${modelUrl}/v1`, wire_api: "responses", env_key: "LAB_KEY" };
    const config = [
      toml({ model: "gpt-5.5", model_provider: "lab", check_for_update_on_startup: false }),
      "[analytics]\nenabled = false",
      `[model_providers.lab]\n${toml(provider)}`,
      serverSettings(door),
    ];
    writeSettings(home, ".codex/config.toml", config.join("\n"));
    return {
      // Nobody is there to approve anything, and the only model is ours.
      args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-C", work, prompt],
      env: { LAB_KEY: MODEL_KEY, ...(door.transport === "http" && { LAB_TOKEN: door.token }) },
    };
  },
};
