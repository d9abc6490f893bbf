/** `serve`: serves the tools and the dashboard over HTTP until a signal. */

import { type App, createApp } from "../../app.ts";
import type { Environment } from "../../config/environment.ts";
import type { Profile } from "../../config/tool-sets.ts";
import { AppError } from "../../errors.ts";
import { createHttpApp } from "../../http/app.ts";
import { createAuthenticate, createCredentials, type Credentials } from "../../http/auth/authenticate.ts";
import { createWellKnown } from "../../http/auth/oauth.ts";
import { createBrowserAuth } from "../../http/browser/browser-auth.ts";
import { addressesOf, createGuard, interfaceAddresses, isLoopback, pageUrl, urlHost } from "../../http/host-guard.ts";
import { listen, type Listening } from "../../http/listen.ts";
import { createRateLimit } from "../../http/rate-limit.ts";
import { createEndWhenRevoked } from "../../http/revocation.ts";
import { createMcpEndpoint, type McpEndpoint } from "../../mcp/http/endpoint.ts";
import type { BuildServer } from "../../mcp/server.ts";
import { createStreamPermits, STREAM_LIMITS, type StreamPermits } from "../../operations/parts/stream-permits.ts";
import { leaveOnSignals } from "../../platform/shutdown.ts";
import { ownLink, type PageLink, portOf, tryToOpen } from "../browser/dashboard-link.ts";
import { EXIT_CODES, printFailure, serviceLogLevel } from "../output.ts";

export interface ServeOptions {
  flags: Environment;
  /** False with --no-auth. */
  auth: boolean;
  /** For clients that choose none with `/mcp?profile=`. */
  profile?: Profile | undefined;
  /** Receives the link to the dashboard once the server listens. */
  page?: { run?: string | undefined; show(link: PageLink, app: App): Promise<void> } | undefined;
  /** Builds the MCP server of each connection, instead of the default one. */
  buildServer?: BuildServer | undefined;
}

/** Prints the link with `--open` or when stderr is a terminal. */
export function pageOnTerminal({ open }: { open: boolean }): ServeOptions["page"] {
  if (!open && !process.stderr.isTTY) return undefined;
  return {
    show: async (link, app) => {
      const later = `gemini-search-mcp open --port ${portOf(link.url)}`;
      const note = link.isUsed !== undefined ? ` (single use, valid two minutes; for a new one: ${later})` : "";
      await printFailure(`Dashboard: ${link.url}${note}`);
      if (open) await tryToOpen(link, app);
    },
  };
}

export async function runServe({ flags, auth, profile, page, buildServer }: ServeOptions): Promise<void> {
  const app = createApp({ flags, logFrom: serviceLogLevel(), showsAnnouncements: true, scrapable: true });
  const { shutdown, log, config } = app;
  const { MCP_SERVER_HOST: host } = config.settings;
  if (!auth && !isLoopback(host)) {
    await printFailure(
      `--no-auth works on loopback addresses only, and ${host} can be reached from other machines. Drop one of the two.`,
    );
    return shutdown.leave(EXIT_CODES.usage);
  }
  leaveOnSignals(shutdown, () => EXIT_CODES.ok);
  process.stderr.on("error", () => {});
  await app.telemetry;
  await app.openStore();
  const streams = createStreamPermits(STREAM_LIMITS);
  const mcp = createMcpEndpoint(app, { streams, profile, build: buildServer });
  const opened = await openServer(app, { mcp, auth, streams }).catch(async (error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    await printFailure(`${error.message} ${error.suggestion ?? ""}`);
  });
  if (opened === undefined) return shutdown.leave(EXIT_CODES.failed);
  const { listening, credentials } = opened;
  shutdown.signal.addEventListener("abort", listening.stop);
  shutdown.finally(async () => {
    await answersWritten();
    await mcp.close();
    await listening.close();
  });
  log.announce(`Listening on ${listening.url}/mcp`);
  void showPage(app, { page, credentials, port: portOf(listening.url) });
  await app.startPolling().catch(() => log.warn("Unfinished research could not be resumed."));
}

interface Server {
  listening: Listening;
  credentials: Credentials | undefined;
}

interface ServerParts {
  mcp: McpEndpoint;
  auth: boolean;
  streams: StreamPermits;
}

async function openServer(app: App, { mcp, auth, streams }: ServerParts): Promise<Server> {
  const { MCP_SERVER_HOST: host, MCP_SERVER_PORT: port, MCP_RATE_LIMIT_PER_MINUTE: perMinute } = app.config.settings;
  const credentials = await createCredentials(app, { noAuth: !auth });
  // With port 0 the address is known only after listen().
  let addresses: string[] = [];
  const { fetch } = createHttpApp({
    app,
    mcp,
    guard: guardFor(app),
    authenticate: createAuthenticate(credentials),
    browserAuth: createBrowserAuth(app, credentials, () => addresses),
    wellKnown: createWellKnown(app),
    rateLimit: createRateLimit({ perMinute }),
    streams,
    endWhenRevoked: createEndWhenRevoked({ findRevoked: credentials?.findRevoked ?? (async () => new Set()) }),
  });
  const listening = await listen({ fetch, host, port });
  addresses = addressesOf(host, portOf(listening.url));
  return { listening, credentials };
}

/** An error does not stop the server. */
async function showPage(
  app: App,
  { page, credentials, port }: { page: ServeOptions["page"]; credentials: Credentials | undefined; port: number },
): Promise<void> {
  if (page === undefined) return;
  try {
    const url = pageUrl(app.config.settings.MCP_SERVER_HOST, port);
    await page.show(await ownLink(app, credentials?.own, { url, run: page.run }), app);
  } catch {
    app.log.warn("The dashboard link could not be created. Try: gemini-search-mcp open");
  }
}

/** Lets the final responses of stopped calls reach their streams. */
const answersWritten = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function guardFor({ config, log }: App): ReturnType<typeof createGuard> {
  const { MCP_SERVER_HOST: host, MCP_ALLOWED_HOSTS: hosts, MCP_ALLOWED_ORIGINS: origins } = config.settings;
  if (isLoopback(host) || hosts.length > 0) return createGuard({ hosts: [urlHost(host), ...hosts], origins });
  log.warn(
    `${host} can be reached from other machines, and MCP_ALLOWED_HOSTS is not set: only requests to IP addresses are answered. Set it to the host names that clients use.`,
  );
  return createGuard({ hosts: [host, ...interfaceAddresses(host)].map(urlHost), origins });
}
