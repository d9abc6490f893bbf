/** `dashboard`: opens the page of the server that runs, or runs one. */

import { z } from "zod";
import { type App, readPackage } from "../../app.ts";
import { type Environment, loadConfig, readEnvironment } from "../../config/config.ts";
import { AppError } from "../../errors.ts";
import { LOCAL_OWNER } from "../../http/auth/credentials.ts";
import { pageUrl } from "../../http/browser/server-address.ts";
import type { KeyHolder } from "../../http/browser/login-key-store.ts";
import { keptToken } from "../../http/auth/token-file.ts";
import { hashToken } from "../../http/auth/tokens.ts";
import { openCommand } from "../answer-command.ts";
import { print, printFailure } from "../output.ts";
import { printError } from "../print-error.ts";
import { type Opening, ownLink, type PageLink, tryToOpen, UNOPENED } from "../browser/dashboard-link.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { runServe } from "./serve.ts";

export interface DashboardOptions {
  flags: Environment;
  /** The run to be shown first. */
  run: string | undefined;
  /** False with --no-open: the link is printed only. */
  open: boolean;
  json: boolean;
}

export async function runDashboard(options: DashboardOptions): Promise<void> {
  const { flags, run } = options;
  const { MCP_SERVER_HOST: host, MCP_SERVER_PORT: port } = loadConfig({
    environment: readEnvironment(),
    flags,
  }).settings;
  const url = pageUrl(host, port);
  // Port 0 is any free one: nobody can be there already.
  const found = port === 0 ? "nobody" : await whoAnswers(url);
  if (found !== "nobody") return openRunning(url, { found, options });
  const nobody = port === 0 ? "" : `No server runs at ${url}. `;
  await printFailure(`${nobody}This one runs until you stop it (Ctrl-C).`);
  const page = {
    run,
    show: async (link: PageLink, app: App) => void (await show(link, app, { ...options, started: true })),
  };
  await runServe({ flags, auth: true, page });
}

async function openRunning(
  url: string,
  { found, options }: { found: "ours" | "somebody else"; options: DashboardOptions },
): Promise<void> {
  const app = openCommand({ flags: options.flags });
  try {
    if (found === "somebody else") throw somebodyElse(url);
    const holder = (await asksForTokens(url)) ? await ownHolder(url, app) : undefined;
    const link = await ownLink(app, holder, { url, run: options.run });
    const { opened, over } = await show(link, app, { ...options, started: false });
    // Whoever leaves now leaves the file that leads there.
    const end = await over;
    if (opened && end === "unused" && !app.shutdown.leaving()) await printFailure(NOT_USED);
    await app.shutdown.leave(EXIT_CODES.ok);
  } catch (error) {
    await printError(error, options.json);
    await app.shutdown.leave(EXIT_CODES.failed);
  }
}

const NOT_USED =
  "No browser came by the link within a minute. If the page says that it does not know the link, the server runs with another config directory or token: set GEMINI_SEARCH_CONFIG_DIR and MCP_AUTH_TOKEN as it has them.";

async function show(
  link: PageLink,
  app: App,
  { open, json, started }: { open: boolean; json: boolean; started: boolean },
): Promise<Opening> {
  if (!json) await print(link.address);
  const opening = open ? await tryToOpen(link, app) : UNOPENED;
  const { opened } = opening;
  if (json) await print(JSON.stringify({ success: true, url: link.address, opened, started }, null, 2));
  return opening;
}

const ANSWER_MS = 3_000;

const health = z.object({ service: z.literal(readPackage().name) });

/** What it means that there was no connection: the address is free, or `serve` says what is wrong with it. */
const UNCONNECTED = /^(?:ECONNREFUSED|EADDRNOTAVAIL|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

async function whoAnswers(url: string): Promise<"ours" | "somebody else" | "nobody"> {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(ANSWER_MS), redirect: "error" });
    return health.safeParse(await response.json()).success ? "ours" : "somebody else";
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    return UNCONNECTED.test(code) ? "nobody" : "somebody else";
  }
}

const linkAnswer = z.object({ path: z.literal("/") });

/** Asked without any: what answers there calls itself ours, and it is not known whether it is. */
async function asksForTokens(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const response = await fetch(`${url}/api/links`, { method: "POST", signal, redirect: "error" }).catch(
    () => undefined,
  );
  if (response?.status === 401) return true;
  if (linkAnswer.safeParse(await response?.json().catch(() => undefined)).success) return false;
  throw noLink(url);
}

async function ownHolder(url: string, { config, log }: App): Promise<KeyHolder> {
  const token = await keptToken({ config, log });
  // Without a database on disk no server can know of the link.
  if (token === undefined || !config.configDirWritable) throw anotherServer(url);
  return { owner: LOCAL_OWNER, tokenHash: hashToken(token) };
}

const somebodyElse = (url: string): AppError =>
  new AppError({
    code: "INVALID_INPUT",
    message: `Another program answers at ${url}.`,
    suggestion: "Choose another port with --port, or --port 0 for any free one, or stop that program.",
  });

const anotherServer = (url: string): AppError =>
  new AppError({
    code: "UNAUTHORIZED",
    message: `The token of the server at ${url} is not known to this installation.`,
    suggestion:
      "Set MCP_AUTH_TOKEN to the token it was started with, or GEMINI_SEARCH_CONFIG_DIR to its config directory. Or start another server with --port.",
  });

const noLink = (url: string): AppError =>
  new AppError({
    code: "INVALID_INPUT",
    message: `The server at ${url} gave no link to its page.`,
    suggestion: "It may be of an older version, or too busy: start it again, or start another with --port.",
  });
