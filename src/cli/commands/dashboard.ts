/** `open`: opens the page of the running server, or starts one. */

import { z } from "zod";
import { type App, createApp, readPackage } from "../../app.ts";
import { LOCAL_OWNER } from "../../caller.ts";
import { loadConfig } from "../../config/config.ts";
import { type Environment, readEnvironment } from "../../config/environment.ts";
import { AppError, invalidInput } from "../../errors.ts";
import { hashToken, keptToken } from "../../http/auth/tokens.ts";
import type { KeyHolder } from "../../http/browser/sessions.ts";
import { pageUrl } from "../../http/host-guard.ts";
import { recordedServer } from "../../http/running-server.ts";
import { errorCodeOf } from "../../platform/error-code.ts";
import { openCommand } from "../answer-command.ts";
import { type Opening, ownLink, type PageLink, tryToOpen, UNOPENED } from "../browser/dashboard-link.ts";
import { EXIT_CODES, print, printFailure } from "../output.ts";
import { printError } from "../print-error.ts";
import { findNamedRun } from "../run-name.ts";
import { runServe } from "./serve.ts";

export interface DashboardOptions {
  flags: Environment;
  /** The run that the page shows first, the newest without a name; undefined: its home. */
  run: { name: string | undefined } | undefined;
  /** False with --no-open: the link is only printed. */
  open: boolean;
  json: boolean;
}

export async function runDashboard({ run: wanted, ...given }: DashboardOptions): Promise<void> {
  const { flags, json } = given;
  let run: string | undefined;
  try {
    run = await runToShow(wanted, flags);
  } catch (error) {
    process.exitCode = await printError(error, json);
    return;
  }
  const options = { ...given, run };
  const config = loadConfig({ environment: readEnvironment(), flags });
  const { MCP_SERVER_HOST: host, MCP_SERVER_PORT: port } = config.settings;
  // An address that was typed is meant; otherwise the server of this installation may be on any port.
  const isTyped = Object.values(flags).some((value) => value !== undefined);
  const recorded = isTyped ? undefined : await recordedServer(config);
  if (recorded !== undefined && (await probe(recorded)) === "ours")
    return openRunning(recorded, { found: "ours", options });
  const url = pageUrl(host, port);
  // Port 0 is any free port: no server can be there already.
  const found = port === 0 ? "none" : await probe(url);
  if (found !== "none") return openRunning(url, { found, options });
  await printFailure(
    `${port === 0 ? "A server was started." : "No server was running, so one was started."} Press Ctrl-C to stop it.`,
  );
  const page = {
    run,
    show: async (link: PageLink, app: App) => void (await show(link, app, { ...options, started: true })),
  };
  await runServe({ flags, auth: true, page });
}

async function openRunning(
  url: string,
  { found, options }: { found: "ours" | "another program"; options: Shown },
): Promise<void> {
  const app = openCommand({ flags: options.flags });
  try {
    if (found === "another program") throw anotherProgram(url);
    const holder = (await requiresToken(url)) ? await ownHolder(url, app) : undefined;
    const link = await ownLink(app, holder, { url, run: options.run });
    const { opened, over } = await show(link, app, { ...options, started: false });
    // The file that redirects the browser is needed until then.
    const end = await over;
    if (opened && end === "unused" && !app.shutdown.leaving()) await printFailure(NOT_USED);
    await app.shutdown.leave(EXIT_CODES.ok);
  } catch (error) {
    await printError(error, options.json);
    await app.shutdown.leave(EXIT_CODES.failed);
  }
}

interface Shown extends Omit<DashboardOptions, "run"> {
  run: string | undefined;
}

/** Looked up before any server is started. */
async function runToShow(wanted: DashboardOptions["run"], flags: Environment): Promise<string | undefined> {
  if (wanted === undefined) return undefined;
  const { name } = wanted;
  // It only closes the database: the server, or the link to one, has an app of its own.
  const app = createApp({ flags, logFrom: "WARN", logTo: () => {}, maintains: false, exit: () => {} });
  try {
    const { taskId, remark } = await findNamedRun(app.deps, { owner: LOCAL_OWNER, name });
    if (remark !== undefined) await printFailure(remark);
    return taskId;
  } catch (error) {
    // A page without runs can be opened, too.
    if (name === undefined && error instanceof AppError && error.code === "TASK_NOT_FOUND") return undefined;
    throw error;
  } finally {
    await app.shutdown.leave();
  }
}

const NOT_USED =
  "No browser opened the link within a minute. If the page doesn't recognise the link, the server uses another config directory or token: set GEMINI_SEARCH_CONFIG_DIR and MCP_AUTH_TOKEN to the server's values.";

async function show(
  link: PageLink,
  app: App,
  { open, json, started }: { open: boolean; json: boolean; started: boolean },
): Promise<Opening> {
  if (!json) await print(link.url);
  const opening = open ? await tryToOpen(link, app) : UNOPENED;
  const { opened } = opening;
  if (json) await print(JSON.stringify({ success: true, url: link.url, opened, started }, null, 2));
  return opening;
}

const REQUEST_TIMEOUT_MS = 3_000;

const health = z.object({ service: z.literal(readPackage().name) });

/** Errors without a connection: either the port is free, or `serve` reports what is wrong with the address. */
const UNCONNECTED = /^(?:ECONNREFUSED|EADDRNOTAVAIL|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

/** Which program answers at the URL. */
async function probe(url: string): Promise<"ours" | "another program" | "none"> {
  try {
    const response = await fetch(`${url}/health`, {
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      redirect: "error",
    });
    return health.safeParse(await response.json()).success ? "ours" : "another program";
  } catch (error) {
    return UNCONNECTED.test(errorCodeOf(error instanceof Error ? error.cause : undefined)) ? "none" : "another program";
  }
}

const linkAnswer = z.object({ path: z.literal("/") });

/** Sends no token, because the program there only claims to be our server. */
async function requiresToken(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  const response = await fetch(`${url}/api/links`, { method: "POST", signal, redirect: "error" }).catch(
    () => undefined,
  );
  if (response?.status === 401) return true;
  if (linkAnswer.safeParse(await response?.json().catch(() => undefined)).success) return false;
  throw noLink(url);
}

async function ownHolder(url: string, { config, log }: App): Promise<KeyHolder> {
  const token = await keptToken({ config, log });
  // Without a database on disk the server cannot know the link.
  if (token === undefined || !config.configDirWritable) throw anotherServer(url);
  return { owner: LOCAL_OWNER, tokenHash: hashToken(token) };
}

const anotherProgram = (url: string): AppError =>
  invalidInput(`Another program answers at ${url}.`, {
    suggestion: "Choose another port with --port, or --port 0 for any free one, or stop that program.",
  });

const anotherServer = (url: string): AppError =>
  new AppError({
    code: "PERMISSION_DENIED",
    message: `The access token of the server at ${url} is not known to this installation.`,
    suggestion:
      "Set MCP_AUTH_TOKEN to the token it was started with, or GEMINI_SEARCH_CONFIG_DIR to its config directory. Or start another server with --port.",
  });

const noLink = (url: string): AppError =>
  invalidInput(`The server at ${url} did not return a link to its page.`, {
    suggestion: "It may be an older version, or too busy: restart it, or start another with --port.",
  });
