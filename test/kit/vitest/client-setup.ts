/** Installs Claude Code on a CI machine before the first long test: tests themselves reach loopback only. */

import { claudeCode } from "../../../lab/clients/claude-code.ts";
import { install } from "../../../lab/clients/client.ts";

/** Elsewhere the test that needs it is skipped until `node lab/clients.ts` has installed it. */
export default async function setup(): Promise<void> {
  if (process.env["CI"] !== undefined) await install(claudeCode);
}
