/** `serve`: serves the tools and the page over HTTP until a signal. */

import { type App, createApp } from "../../app.ts";
import type { Environment } from "../../config/environment.ts";
import type { Profile } from "../../config/tool-sets.ts";
import { AppError } from "../../errors.ts";
import { createHttpApp } from "../../http/app.ts";
import { createAuthenticate, createCredentials, type Credentials } from "../../http/auth/authenticate.ts";
import { createWellKnown } from "../../http/auth/oauth.ts";
import { createBrowserAuth } from "../../http/browser/browser-auth.ts";
import { addressesOf, createGuard, interfaceAddresses, isLoopback, pageUrl, urlHost } from "../../http/host-guard.ts";
import { createIdleCollection } from "../../http/idle-collection.ts";
import { listen, type Listening } from "../../http/listen.ts";
import { createRateLimit } from "../../http/rate-limit.ts";
import { createEndWhenRevoked } from "../../http/revocation.ts";
import { recordServer, removeServerRecord } from "../../http/running-server.ts";
import { createMcpEndpoint, type McpEndpoint } from "../../mcp/http/endpoint.ts";
import type { BuildServer } from "../../mcp/server.ts";
import { createStreamPermits, STREAM_LIMITS } from "../../operations/parts/stream-permits.ts";
import { leaveOnSignals } from "../../platform/shutdown.ts";
import { ownLink, type PageLink, portOf, tryToOpen } from "../browser/dashboard-link.ts";
import { createLogLines, EXIT_CODES, printFailure, serviceLogLevel } from "../output.ts";
import { shell } from "../render/answer-view.ts";

export interface ServeOptions {
  flags: Environment;
  /** False with --no-auth. */
  auth: boolean;
  /** For clients that choose none with `/mcp?profile=`. */
  profile?: Profile | undefined;
  /** Receives the link to the page once the server listens. */
  page?: { run?: string | undefined; show(link: PageLink, app: App): Promise<void> } | undefined;
  /** Builds the MCP server of each connection, instead of the default one. */
  buildServer?: BuildServer | undefined;
}

/** Prints the link with `--open` or when stderr is a terminal. */
export function pageOnTerminal({ open }: { open: boolean }): ServeOptions["page"] {
  if (!open && !process.stderr.isTTY) return undefined;
  return {
    show: async (link, app) => {
      await printFailure(`Page: ${link.url}`);
      if (link.isUsed !== undefined)
        await printFailure(`The link is valid once, for two minutes. For a new one: ${shell("open")}`);
      if (open) await tryToOpen(link, app);
    },
  };
}

export async function runServe(options: ServeOptions): Promise<void> {
  const { flags, auth, page } = options;
  let app = createServedApp(flags, (one) => one === app);
  const { log } = app;
  const { MCP_SERVER_HOST: host, MCP_SERVER_PORT: port } = app.config.settings;
  if (!auth && !isLoopback(host)) {
    await printFailure(
      `--no-auth works on loopback addresses only, and ${host} can be reached from other machines. Drop one of the two.`,
    );
    return app.shutdown.leave(EXIT_CODES.usage);
  }
  leaveOnSignals({ leave: (code) => app.shutdown.leave(code) }, () => EXIT_CODES.ok);
  process.stderr.on("error", () => {});
  await app.openStore();
  let listening: Listening | undefined;
  let answer: Listener;
  const compose = async (served: App): Promise<Credentials | undefined> => {
    const isCurrent = (): boolean => served === app;
    // With port 0 the address is known only after listen().
    const addresses = (): string[] => (listening === undefined ? [] : addressesOf(host, portOf(listening.url)));
    const { fetch, credentials, mcp } = await composeServer(served, { options, addresses, restart });
    answer = fetch;
    served.shutdown.signal.addEventListener("abort", () => isCurrent() && listening?.stop());
    served.shutdown.finally(async () => {
      await answersWritten();
      await mcp.close();
      if (!isCurrent()) return;
      await removeServerRecord(served.config);
      await listening?.close();
    });
    return credentials;
  };
  /** On the same port, with the settings of now: an app reads them once. */
  const restart = async (): Promise<void> => {
    const before = app;
    const next = createServedApp(flags, (one) => one === app);
    await next.openStore();
    await compose(next);
    app = next;
    void startPolling(next);
    setTimeout(() => void before.shutdown.leave(), ANSWER_MS);
  };
  let credentials: Credentials | undefined;
  try {
    credentials = await compose(app);
    const onRequest = createIdleCollection({ now: app.deps.clock.monotonic });
    const fetch: Listener = (...request) => {
      onRequest();
      return answer(...request);
    };
    listening = await listen({ fetch, host, port });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    await printFailure(`${error.message} ${error.suggestion ?? ""}`);
    return app.shutdown.leave(EXIT_CODES.failed);
  }
  const servedPort = portOf(listening.url);
  await recordServer(app.config, pageUrl(host, servedPort)).catch(() => log.debug("The server could not be recorded."));
  log.announce(`Listening on ${listening.url}/mcp`);
  await warnWithoutKey(app);
  void showPage(app, { page, credentials, port: servedPort });
  await startPolling(app);
}

/** For the answer to the request that restarts it. */
const ANSWER_MS = 1_000;

/** The process ends with the app, unless another one has taken its place. */
function createServedApp(flags: Environment, isCurrent: (app: App) => boolean): App {
  const app: App = createApp({
    flags,
    logFrom: serviceLogLevel(),
    logTo: createLogLines().write,
    showsAnnouncements: true,
    exit: (code) => {
      if (isCurrent(app)) process.exit(code);
    },
  });
  return app;
}

const startPolling = (app: App): Promise<unknown> =>
  app.startPolling({ service: true }).catch(() => app.log.warn("Unfinished research could not be resumed."));

const NO_KEY =
  "No Gemini API key is set, so nothing can be asked yet. Enter one on the page, or run gemini-search-mcp init and restart.";

/** Before the first question is written. */
async function warnWithoutKey({ config, deps, log }: App): Promise<void> {
  if (config.settings.GEMINI_API_KEY !== undefined || config.vertex) return;
  const obstacle = await deps.searchObstacle().catch(() => undefined);
  if (obstacle !== undefined) log.warn(NO_KEY);
}

type Listener = Parameters<typeof listen>[0]["fetch"];

interface ServerParts {
  options: ServeOptions;
  addresses: () => readonly string[];
  restart: () => Promise<void>;
}

async function composeServer(
  app: App,
  { options: { auth, profile, buildServer }, addresses, restart }: ServerParts,
): Promise<{ fetch: Listener; credentials: Credentials | undefined; mcp: McpEndpoint }> {
  const streams = createStreamPermits(STREAM_LIMITS);
  const mcp = createMcpEndpoint(app, { streams, profile, build: buildServer });
  const credentials = await createCredentials(app, { noAuth: !auth });
  const { fetch } = createHttpApp({
    app,
    mcp,
    guard: guardFor(app),
    authenticate: createAuthenticate(credentials),
    browserAuth: createBrowserAuth(app, credentials, addresses),
    wellKnown: createWellKnown(app),
    rateLimit: createRateLimit({ perMinute: app.config.settings.MCP_RATE_LIMIT_PER_MINUTE }),
    streams,
    endWhenRevoked: createEndWhenRevoked({ findRevoked: credentials?.findRevoked ?? (async () => new Set()) }),
    restart,
  });
  return { fetch, credentials, mcp };
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
    app.log.warn("The page link could not be created. Try: gemini-search-mcp open");
  }
}

/** Lets the final responses of stopped calls reach their streams. */
const answersWritten = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function guardFor({ config, log }: App): ReturnType<typeof createGuard> {
  const { MCP_SERVER_HOST: host, MCP_ALLOWED_HOSTS: allowed, MCP_PUBLIC_URL: publicUrl = "" } = config.settings;
  const own = [urlHost(host), ...allowed, URL.parse(publicUrl)?.host ?? ""];
  // An origin lets web pages use the server, but is no name under which it is reached.
  const isNamed = allowed.some((entry) => !entry.includes("://"));
  if (isLoopback(host) || isNamed) return createGuard(own);
  if (publicUrl === "") {
    log.warn(
      `${host} can be reached from other machines, and MCP_ALLOWED_HOSTS names no host: only requests to IP addresses are answered. Set it to the host names that clients use.`,
    );
  }
  return createGuard([...own, ...interfaceAddresses(host).map(urlHost)]);
}
