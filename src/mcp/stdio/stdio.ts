/** The stdio server: what runs when a client starts `gemini-search-mcp`. */

import type { McpServer } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { App } from "../../app.ts";
import { leaveOnSignals } from "../../platform/shutdown.ts";
import { buildServer } from "../server.ts";
import { overhearListens } from "./listen.ts";
import { runEventsOf } from "../resources/subscriptions.ts";
import { LOCAL_CALLER } from "../../caller.ts";
import type { Connection } from "../connection.ts";

/** Late enough to touch nothing for a client that only probes: some start a second server just to ask its version. */
const OPEN_STORE_AFTER_MS = 3_000;
/** After the first request: what dead processes left is cleaned up within a second of it. */
const OPEN_STORE_AFTER_REQUEST_MS = 600;
/** Some clients die without closing our stdin. */
const PARENT_CHECK_MS = 30_000;

export function runStdioServer(app: App): void {
  const { shutdown, log } = app;
  leaveOnSignals(shutdown, () => 0);
  const leave = (): void => void shutdown.leave(0);
  process.stdin.on("end", leave);
  process.stdin.on("close", leave);
  process.stdout.on("error", leave);
  process.stderr.on("error", () => {});
  // The SDK hangs up on a line of more than 10 MB. Nobody would hear us after that, so the client may start another.
  const { transport, speaker } = overhearListens(
    new StdioServerTransport(),
    runEventsOf(app, LOCAL_CALLER.owner),
    leave,
  );
  const connect = ({ era }: { era: Connection["protocolEra"] }): McpServer => {
    const mcpServer = buildServer(app, { caller: LOCAL_CALLER, protocolEra: era });
    speaker(mcpServer.server);
    return mcpServer;
  };
  const handle = serveStdio(connect, { transport, onerror: (error) => log.debug(`MCP: ${error.message}`) });
  shutdown.finally(() => handle.close());
  let isOpening = false;
  const open = (): void => {
    if (!isOpening) void shutdown.during(takeUp(app));
    isOpening = true;
  };
  setTimeout(open, OPEN_STORE_AFTER_MS).unref();
  process.stdin.once("data", () => setTimeout(open, OPEN_STORE_AFTER_REQUEST_MS).unref());
  leaveWithParent(leave);
}

function leaveWithParent(leave: () => void): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) leave();
  }, PARENT_CHECK_MS).unref();
}

/** What earlier processes left: interrupted searches are marked, research is followed again. */
async function takeUp(app: App): Promise<void> {
  await app.openStore();
  await app.followResearch().catch(() => app.log.warn("Unfinished research could not be taken up."));
}
