/** Codex, headless and at a terminal. */

import { realpathSync } from "node:fs";
import {
  type Client,
  type ClientContext,
  type ServerConnection,
  MODEL_KEY,
  SERVER_NAME,
  writeSettings,
} from "./client.ts";
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

function writeConfig(
  { home, connection, modelUrl }: ClientContext,
  extra: readonly string[] = [],
): Record<string, string> {
  const provider = { name: "lab", base_url: `${modelUrl}/v1`, wire_api: "responses", env_key: "LAB_KEY" };
  const config = [
    toml({ model: "gpt-5.5", model_provider: "lab", check_for_update_on_startup: false }),
    "[analytics]\nenabled = false",
    `[model_providers.lab]\n${toml(provider)}`,
    serverSettings(connection),
    ...extra,
  ];
  writeSettings(home, ".codex/config.toml", config.join("\n"));
  return { LAB_KEY: MODEL_KEY, ...(connection.transport === "http" && { LAB_TOKEN: connection.token }) };
}

export const codex: Client = {
  name: "codex",
  package: "@openai/codex",
  version: "0.169.0",
  bin: "codex",
  api: openaiResponses,
  prepare: (context) => {
    // There is no user to approve anything, and the only model is the scripted one.
    const unattended = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
    return { args: ["exec", ...unattended, "-C", context.work, context.prompt], env: writeConfig(context) };
  },
  interactive: (context) => ({
    args: [],
    // The state after the first start, whose questions are not part of the trial.
    env: writeConfig(context, [
      `[projects.${JSON.stringify(realpathSync(context.work))}]\ntrust_level = "trusted"`,
      '[notice.model_migrations]\n"gpt-5.5" = "gpt-6-sol"',
    ]),
    // Keys typed before the status line appears are taken for pasted text.
    ready: /GPT-5\.5 .*· ~/,
    approval: { shows: /Allow .*\?/, keys: ["Down", "Enter"] },
    interrupt: ["Escape"],
    menus: { server: "/mcp verbose" },
    detailsKey: "C-t",
  }),
};
