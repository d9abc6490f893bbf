/** Creates links to the page with a one-time code instead of a token, and opens them in a browser. */

import type { App } from "../../app.ts";
import { holderOfLink, type KeyHolder, makeLink } from "../../http/browser/sessions.ts";
import { addressOf } from "../../http/host-guard.ts";
import type { Clock } from "../../platform/clock.ts";
import { printFailure } from "../output.ts";
import { createLoginFile, openBrowser } from "./open-browser.ts";

/** The port of a server URL, which omits the default port of http. */
export const portOf = (url: string): number => Number(new URL(url).port || 80);

export interface DashboardTarget {
  /** `http://host:port` */
  url: string;
  /** The run that the page shows first. */
  run?: string | undefined;
}

/** `path` is the path of the one-time link, or `/` on a server without authentication. */
export function linkTo(path: string, { url, run }: DashboardTarget): string {
  if (run === undefined) return `${url}${path}`;
  return path === "/" ? `${url}/runs/${run}` : `${url}${path}?to=${encodeURIComponent(`/runs/${run}`)}`;
}

export interface PageLink {
  url: string;
  /** Undefined for a link without a one-time code, on a server without authentication. */
  isUsed?: () => Promise<boolean>;
}

/** Creates the link in the database, so that the program at this URL is sent nothing but the link. */
export async function ownLink(
  { deps: { database, clock } }: Pick<App, "deps">,
  own: KeyHolder | undefined,
  target: DashboardTarget,
): Promise<PageLink> {
  if (own === undefined) return { url: linkTo("/", target) };
  const db = await database();
  const address = addressOf(target.url);
  const code = await makeLink(db, own, { address, now: clock.now() });
  const isUsed = async (): Promise<boolean> =>
    (await holderOfLink(db, code, { addresses: [address], now: clock.now() })) === undefined;
  return { url: linkTo(`/enter/${code}`, target), isUsed };
}

export interface Opening {
  opened: boolean;
  /** Resolves when the redirecting file is removed: whether the browser used the link. */
  over: Promise<"used" | "unused">;
}

export const UNOPENED: Opening = { opened: false, over: Promise.resolve("unused") };

/** Opens the link in a browser; prints the reason where that is not possible. */
export async function tryToOpen(
  { url, isUsed }: PageLink,
  { config, shutdown, deps: { clock } }: Pick<App, "config" | "shutdown" | "deps">,
): Promise<Opening> {
  const { environment } = config;
  const file = isUsed === undefined ? undefined : await createLoginFile(url).catch(() => undefined);
  if (file !== undefined) shutdown.finally(file.remove);
  const whyNot =
    isUsed !== undefined && file === undefined
      ? "the private file with the link could not be written"
      : await openBrowser(file?.url ?? url, { environment });
  if (whyNot !== undefined) {
    await file?.remove();
    await printFailure(`Couldn't open a browser (${whyNot}). Open the link above.`);
    return UNOPENED;
  }
  if (isUsed === undefined || file === undefined) return { opened: true, over: Promise.resolve("used") };
  return { opened: true, over: waitUntilUsed(isUsed, { clock, signal: shutdown.signal }).finally(file.remove) };
}

const POLL_INTERVAL_MS = 250;
/** A browser that has to be started takes seconds; later than this it will not use the link. */
const BROWSER_TIMEOUT_MS = 60_000;

async function waitUntilUsed(
  isUsed: () => Promise<boolean>,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<"used" | "unused"> {
  const end = clock.monotonic() + BROWSER_TIMEOUT_MS;
  while (clock.monotonic() < end && !signal.aborted) {
    if (await isUsed().catch(() => false)) return "used";
    await clock.sleep(POLL_INTERVAL_MS, signal).catch(() => undefined);
  }
  return "unused";
}
