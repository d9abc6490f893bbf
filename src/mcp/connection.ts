/** What one MCP server instance is built for: a stdio connection, an HTTP session or a single HTTP request. */

import type { Caller } from "../caller.ts";
import type { Profile } from "../config/profiles.ts";
import type { ToolSet } from "../config/tool-sets.ts";

export interface Connection {
  caller: Caller;
  /** "modern" from protocol revision 2026-07-28 on. */
  protocolEra: "legacy" | "modern";
  /** The tools that this client is offered. */
  tools: ToolSet;
  /** Tools in the shape of one client, in place of those with the same name. */
  profile?: Profile | undefined;
}
