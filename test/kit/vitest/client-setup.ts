/** Installs Claude Code and other Node.js lines on a CI machine before the first long test: tests reach loopback only. */

import { claudeCode } from "../../../lab/clients/claude-code.ts";
import { install } from "../../../lab/clients/client.ts";
import { OTHER_NODES } from "./node-lines.ts";

/** Elsewhere a test that needs one is skipped, and names the command that installs it. */
export default async function setup(): Promise<void> {
  if (process.env["CI"] === undefined) return;
  for (const program of [claudeCode, ...OTHER_NODES]) await install(program);
}
