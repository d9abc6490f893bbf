/** LM Studio. */

import { join } from "node:path";
import type { Client } from "./client.ts";

/** https://lmstudio.ai/docs/app/mcp, read 2026-11-16: Cursor's notation, but no word of references to variables. */
export const lmStudio: Client = {
  name: "lm-studio",
  title: "LM Studio",
  format: "json",
  container: "mcpServers",
  file: (paths, scope) => (scope === "user" ? join(paths.home, ".lmstudio", "mcp.json") : undefined),
  traces: (paths) => [join(paths.home, ".lmstudio")],
  programs: ["lms"],
  withoutShell: true,
  stdio: ({ command, args }) => ({ command, args }),
  passesKey: false,
  check: "the Program tab in LM Studio",
};
