/** `serve`: the tools over HTTP for many clients at a time, until a signal. */

import { networkInterfaces } from "node:os";
import { type App, createApp } from "../app.ts";
import type { Environment } from "../config.ts";
import { AppError } from "../errors.ts";
import { createHttpApp } from "../http/app.ts";
import { createAuthenticate } from "../http/authenticate.ts";
import { createGuard, isLoopback, urlHost } from "../http/guard.ts";
import { listen, type Listening } from "../http/listen.ts";
import { createWellKnown } from "../http/oauth.ts";
import { createRateLimit } from "../http/rate-limit.ts";
import { loadFixtures } from "../mcp/conformance.ts";
import { createMcpEndpoint, type McpEndpoint } from "../mcp/http.ts";
import { leaveOnSignals } from "../platform/shutdown.ts";
import { printFailure } from "./output.ts";
import { EXIT_CODES } from "./run-operation.ts";

export interface ServeOptions {
  flags: Environment;
  /** False with --no-auth. */
  auth: boolean;
}

export async function runServe({ flags, auth }: ServeOptions): Promise<void> {
  const app = createApp({ flags, logFrom: "INFO" });
  const { shutdown, log, config } = app;
  const { MCP_SERVER_HOST: host } = config.settings;
  if (!auth && !isLoopback(host)) {
    await printFailure(`--no-auth works on this machine only, and ${host} can be reached from others. Leave out one.`);
    return shutdown.leave(EXIT_CODES.usage);
  }
  leaveOnSignals(shutdown, () => EXIT_CODES.ok);
  process.stderr.on("error", () => {});
  await app.openStore();
  await loadFixtures();
  const mcp = createMcpEndpoint(app);
  const listening = await open(app, { mcp, auth }).catch(async (error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    await printFailure(`${error.message} ${error.suggestion ?? ""}`);
  });
  if (listening === undefined) return shutdown.leave(EXIT_CODES.failed);
  shutdown.signal.addEventListener("abort", listening.stop);
  shutdown.finally(async () => {
    await answersWritten();
    await mcp.close();
    await listening.close();
  });
  log.info(`Listening on ${listening.url}/mcp`);
  await app.followResearch().catch(() => log.warn("Unfinished research could not be taken up."));
}

async function open(app: App, { mcp, auth }: { mcp: McpEndpoint; auth: boolean }): Promise<Listening> {
  const { MCP_SERVER_HOST: host, MCP_SERVER_PORT: port, MCP_RATE_LIMIT_PER_MINUTE: perMinute } = app.config.settings;
  const { fetch } = createHttpApp({
    app,
    mcp,
    guard: guardFor(app),
    authenticate: await createAuthenticate(app, { noAuth: !auth }),
    wellKnown: createWellKnown(app),
    rateLimit: createRateLimit({ perMinute }),
  });
  return listen({ fetch, host, port });
}

/** A stopped call's last answer is still on its way from the operation to its stream. */
const answersWritten = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function guardFor({ config, log }: App): ReturnType<typeof createGuard> {
  const { MCP_SERVER_HOST: host, MCP_ALLOWED_HOSTS: hosts, MCP_ALLOWED_ORIGINS: origins } = config.settings;
  if (isLoopback(host) || hosts.length > 0) return createGuard({ hosts: [urlHost(host), ...hosts], origins });
  log.warn(
    `${host} can be reached from other machines, and MCP_ALLOWED_HOSTS is not set: only addresses in numbers are answered. Set it to the names that clients use.`,
  );
  return createGuard({ hosts: [host, ...ownAddresses(host)].map(urlHost), origins });
}

/** The wildcard stands for every address of this machine; a rebound name is not among them. */
function ownAddresses(host: string): string[] {
  if (host !== "0.0.0.0" && host !== "::") return [];
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
}
