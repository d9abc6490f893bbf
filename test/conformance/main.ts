/** `serve --port 0 --no-auth` with the fixtures of the official conformance suite. Its arguments are ignored. */

import { runServe } from "../../src/cli/commands/serve.ts";
import { buildConformanceServer } from "./server.ts";

await runServe({ flags: { MCP_SERVER_PORT: "0" }, auth: false, buildServer: buildConformanceServer });
