/** Codex. */

import { join } from "node:path";
import { overridableFolder } from "../paths.ts";
import { bearer, type Client, KEY_VARIABLE, TOKEN_VARIABLE, TOOL_TIMEOUT_SECONDS } from "./client.ts";

/** https://developers.openai.com/codex/mcp: only named variables are passed on. */
export const codex: Client = {
  name: "codex",
  title: "Codex",
  format: "toml",
  container: "mcp_servers",
  file: (paths, scope) =>
    scope === "project"
      ? join(paths.project, ".codex", "config.toml")
      : join(overridableFolder(paths, "CODEX_HOME", join(paths.home, ".codex")), "config.toml"),
  traces: (paths) => [overridableFolder(paths, "CODEX_HOME", join(paths.home, ".codex"))],
  programs: ["codex"],
  stdio: ({ command, args }) => ({ command, args, env_vars: [KEY_VARIABLE], tool_timeout_sec: TOOL_TIMEOUT_SECONDS }),
  http: (server) => ({
    url: server.url,
    ...(server.token === undefined ? { bearer_token_env_var: TOKEN_VARIABLE } : { http_headers: bearer(server, "") }),
    tool_timeout_sec: TOOL_TIMEOUT_SECONDS,
  }),
  passesKey: true,
  check: "codex mcp list",
};
