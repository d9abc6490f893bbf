/** OpenCode. */

import { join } from "node:path";
import { overridableFolder, type Paths } from "../paths.ts";
import { bearer, type Client, KEY_VARIABLE, TOKEN_VARIABLE } from "./client.ts";

/** XDG on every platform. */
const folder = (paths: Paths): string =>
  join(overridableFolder(paths, "XDG_CONFIG_HOME", join(paths.home, ".config")), "opencode");

/** https://opencode.ai/docs/mcp-servers, tried with opencode-ai 1.18.33: an unset variable becomes empty. */
export const openCode: Client = {
  name: "opencode",
  title: "OpenCode",
  format: "json",
  container: "mcp",
  file: (paths, scope) => join(scope === "project" ? paths.project : folder(paths), "opencode.json"),
  traces: (paths) => [folder(paths)],
  programs: ["opencode"],
  stdio: ({ command, args }) => ({
    type: "local",
    command: [command, ...args],
    environment: { [KEY_VARIABLE]: `{env:${KEY_VARIABLE}}` },
    enabled: true,
  }),
  variables: "environment",
  http: (server) => ({
    type: "remote",
    url: server.url,
    headers: bearer(server, `{env:${TOKEN_VARIABLE}}`),
    oauth: false,
    enabled: true,
  }),
  passesKey: true,
  check: "opencode mcp list",
};
