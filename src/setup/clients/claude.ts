/** Claude Code and Claude Desktop. */

import { dirname, join } from "node:path";
import { userConfigFolder } from "../../platform/user-config-folder.ts";
import { overridableFolder, type Paths } from "../paths.ts";
import { bearer, type Client, KEY_VARIABLE, TOKEN_VARIABLE } from "./client.ts";

/** https://code.claude.com/docs/en/mcp: its default limit on a tool call is longer than ours. */
export const claudeCode: Client = {
  name: "claude-code",
  title: "Claude Code",
  format: "json",
  container: "mcpServers",
  // Where `claude mcp add` writes without --scope.
  projects: "projects",
  file: (paths, scope) =>
    scope === "project"
      ? join(paths.project, ".mcp.json")
      : join(overridableFolder(paths, "CLAUDE_CONFIG_DIR", paths.home), ".claude.json"),
  traces: (paths) => [
    join(overridableFolder(paths, "CLAUDE_CONFIG_DIR", paths.home), ".claude.json"),
    join(paths.home, ".claude"),
  ],
  programs: ["claude"],
  // The empty default makes an unset variable empty; without it the server would receive the reference itself.
  stdio: ({ command, args }) => ({ type: "stdio", command, args, env: { [KEY_VARIABLE]: `\${${KEY_VARIABLE}:-}` } }),
  http: (server) => ({ type: "http", url: server.url, headers: bearer(server, `\${${TOKEN_VARIABLE}}`) }),
  passesKey: true,
  check: "claude mcp list",
};

const claudeDesktopFile = (paths: Paths): string =>
  join(userConfigFolder(paths), "Claude", "claude_desktop_config.json");

/** https://modelcontextprotocol.io/docs/develop/connect-local-servers: no references, no shell, no URLs. */
export const claudeDesktop: Client = {
  name: "claude-desktop",
  title: "Claude Desktop",
  format: "json",
  container: "mcpServers",
  file: (paths, scope) => (scope === "user" ? claudeDesktopFile(paths) : undefined),
  traces: (paths) => [dirname(claudeDesktopFile(paths))],
  programs: [],
  withoutShell: true,
  stdio: ({ command, args }) => ({ command, args }),
  passesKey: false,
  check: "Settings > Developer in Claude Desktop",
};
