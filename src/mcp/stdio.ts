/** The stdio server: what runs when a client starts `gemini-search-mcp`. */

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { App } from "../app.ts";
import { leaveOnSignals } from "../platform/shutdown.ts";
import { buildServer } from "./server.ts";

/** Late enough to touch nothing for a client that only probes: some start a second server just to ask its version. */
const OPEN_STORE_AFTER_MS = 3_000;
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
  const handle = serveStdio(() => buildServer(app), {
    onerror: (error) => log.debug(`MCP: ${error.message}`),
  });
  shutdown.finally(() => handle.close());
  setTimeout(() => void shutdown.during(takeUp(app)), OPEN_STORE_AFTER_MS).unref();
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
