/** The MCP server over stdio, started by a client as `gemini-search-mcp` without arguments. */

import type { McpServer } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { App } from "../../app.ts";
import { leaveOnSignals } from "../../platform/shutdown.ts";
import { buildServer } from "../server.ts";
import { trackSubscriptions } from "./tracked-subscriptions.ts";
import { runEventsOf } from "../resources/subscriptions.ts";
import { LOCAL_CALLER, LOCAL_OWNER } from "../../caller.ts";
import { toolSet } from "../../config/tool-sets.ts";
import type { Connection } from "../client.ts";

/** Some clients start a second server only to read its version: for them the store is not opened at all. */
const OPEN_STORE_AFTER_MS = 3_000;
/** After the first request: the leftovers of dead processes are cleaned up within a second of it. */
const OPEN_STORE_AFTER_REQUEST_MS = 600;
/** Some clients die without closing our stdin. */
const PARENT_CHECK_INTERVAL_MS = 30_000;

export function runStdioServer(app: App): void {
  const { shutdown, log } = app;
  leaveOnSignals(shutdown, () => 0);
  const leave = (): void => void shutdown.leave(0);
  process.stdin.on("end", leave);
  process.stdin.on("close", leave);
  process.stdout.on("error", leave);
  process.stderr.on("error", () => {});
  // The SDK closes the transport on a line of more than 10 MB; the process exits so that the client can start another.
  const leaveAfterOverflow = (): void => {
    if (shutdown.leaving()) return;
    log.warn("The client sent a message of more than 10 MB; the server exits.");
    void shutdown.leave(1);
  };
  const { transport, notifyFrom } = trackSubscriptions(
    new StdioServerTransport(),
    runEventsOf(app, LOCAL_CALLER.owner),
    leaveAfterOverflow,
  );
  const tools = toolSet(app.config.settings.GEMINI_SEARCH_TOOLS);
  const connect = ({ era }: { era: Connection["protocolEra"] }): McpServer => {
    const mcpServer = buildServer(app, { caller: LOCAL_CALLER, protocolEra: era, tools });
    notifyFrom(mcpServer.server);
    return mcpServer;
  };
  const handle = serveStdio(connect, { transport, onerror: (error) => log.debug(`MCP: ${error.message}`) });
  shutdown.finally(() => handle.close());
  let isOpening = false;
  const open = (): void => {
    if (!isOpening) void shutdown.during(resumeUnfinishedRuns(app));
    isOpening = true;
  };
  setTimeout(open, OPEN_STORE_AFTER_MS).unref();
  process.stdin.once("data", () => setTimeout(open, OPEN_STORE_AFTER_REQUEST_MS).unref());
  leaveWhenParentDies(leave);
}

function leaveWhenParentDies(leave: () => void): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) leave();
  }, PARENT_CHECK_INTERVAL_MS).unref();
}

/** Runs of earlier processes: opening the store marks interrupted searches, then research runs are polled again. */
async function resumeUnfinishedRuns(app: App): Promise<void> {
  await app.openStore();
  await app
    .startPolling({ service: true, owner: LOCAL_OWNER })
    .catch(() => app.log.warn("Unfinished research could not be resumed."));
}
