/** Gemini CLI and Antigravity CLI. */

import { join } from "node:path";
import { overridableFolder } from "../paths.ts";
import { bearer, type Client, KEY_VARIABLE, TOKEN_VARIABLE, TOOL_TIMEOUT_SECONDS } from "./client.ts";

/** https://geminicli.com/docs/tools/mcp-server: keys are not passed to servers unless named. */
export const geminiCli: Client = {
  name: "gemini-cli",
  title: "Gemini CLI",
  format: "json",
  container: "mcpServers",
  file: (paths, scope) =>
    join(
      scope === "project" ? paths.project : overridableFolder(paths, "GEMINI_CLI_HOME", paths.home),
      ".gemini",
      "settings.json",
    ),
  traces: (paths) => [join(overridableFolder(paths, "GEMINI_CLI_HOME", paths.home), ".gemini")],
  programs: ["gemini"],
  stdio: ({ command, args }) => ({
    command,
    args,
    env: { [KEY_VARIABLE]: `$${KEY_VARIABLE}` },
    timeout: TOOL_TIMEOUT_SECONDS * 1_000,
  }),
  http: (server) => ({
    type: "http",
    url: server.url,
    headers: bearer(server, `$${TOKEN_VARIABLE}`),
    timeout: TOOL_TIMEOUT_SECONDS * 1_000,
  }),
  passesKey: true,
  check: "gemini mcp list",
  // Elsewhere `gemini mcp list` shows every server as disabled.
  hint: "It uses MCP servers in trusted folders only: start gemini in your project and choose “Trust folder”.",
};

/**
 * The project's file: Google's migration guide (docs/resources/migrating-to-antigravity-cli.md of google-gemini/gemini-cli,
 * 2026-05-19). The user's file: vendors' guides and installers since 2026-06; older versions of agy read
 * ~/.gemini/antigravity-cli/mcp_config.json.
 */
export const antigravity: Client = {
  name: "antigravity",
  title: "Antigravity CLI",
  format: "json",
  container: "mcpServers",
  file: (paths, scope) =>
    scope === "project"
      ? join(paths.project, ".agents", "mcp_config.json")
      : join(paths.home, ".gemini", "config", "mcp_config.json"),
  traces: (paths) => [
    join(paths.home, ".gemini", "antigravity-cli"),
    join(paths.home, ".gemini", "config", "mcp_config.json"),
  ],
  programs: ["agy"],
  stdio: ({ command, args }) => ({ command, args }),
  http: (server) => ({ serverUrl: server.url, headers: bearer(server, `$${TOKEN_VARIABLE}`) }),
  passesKey: false,
  check: "/mcp in agy",
};
