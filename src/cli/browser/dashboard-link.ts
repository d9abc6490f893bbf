/** The address of the page as the terminal gives it: with a code that is good once, never with a token. */

import type { App } from "../../app.ts";
import { addressOf } from "../../http/browser/server-address.ts";
import { holderOfLink, type KeyHolder, makeLink } from "../../http/browser/login-key-store.ts";
import type { Clock } from "../../platform/clock.ts";
import { openBrowser } from "./open-browser.ts";
import { makeOpeningFile } from "./login-file.ts";
import { printFailure } from "../output.ts";

/** Of an address of a server; that of http is left out of addresses. */
export const portOf = (url: string): number => Number(new URL(url).port || 80);

export interface PagePlace {
  /** `http://host:port` */
  url: string;
  /** The run to be shown first. */
  run?: string | undefined;
}

/** `path` is what the server gave: a link, or just `/` where nobody is asked. */
export function linkTo(path: string, { url, run }: PagePlace): string {
  if (run === undefined) return `${url}${path}`;
  return path === "/" ? `${url}/runs/${run}` : `${url}${path}?to=${encodeURIComponent(`/runs/${run}`)}`;
}

/** A link as it is given to the user. */
export interface PageLink {
  address: string;
  /** Missing where nobody is asked who they are: there is no code in it. */
  isUsed?: () => Promise<boolean>;
}

/** Made without asking the server: whoever answers at its address need not be trusted with more than this link. */
export async function ownLink(
  { deps: { database, clock } }: Pick<App, "deps">,
  own: KeyHolder | undefined,
  place: PagePlace,
): Promise<PageLink> {
  if (own === undefined) return { address: linkTo("/", place) };
  const db = await database();
  const code = await makeLink(db, own, { address: addressOf(place.url), now: clock.now() });
  const isUsed = async (): Promise<boolean> => (await holderOfLink(db, code, clock.now())) === undefined;
  return { address: linkTo(`/enter/${code}`, place), isUsed };
}

export interface Opening {
  opened: boolean;
  /** Once the file is gone that led the browser here: whether it came. */
  over: Promise<"used" | "unused">;
}

export const UNOPENED: Opening = { opened: false, over: Promise.resolve("unused") };

/** Says so where no browser can be opened; that is no reason to end anything. */
export async function tryToOpen(
  { address, isUsed }: PageLink,
  { config, shutdown, deps: { clock } }: Pick<App, "config" | "shutdown" | "deps">,
): Promise<Opening> {
  const { environment } = config;
  const file = isUsed === undefined ? undefined : await makeOpeningFile(address).catch(() => undefined);
  if (file !== undefined) shutdown.finally(file.remove);
  const whyNot =
    isUsed !== undefined && file === undefined
      ? "its private file could not be written"
      : await openBrowser(file?.address ?? address, { environment });
  if (whyNot !== undefined) {
    await file?.remove();
    await printFailure(`No browser was opened: ${whyNot}. Open the link yourself.`);
    return UNOPENED;
  }
  if (isUsed === undefined || file === undefined) return { opened: true, over: Promise.resolve("used") };
  return { opened: true, over: untilUsed(isUsed, { clock, signal: shutdown.signal }).finally(file.remove) };
}

const LOOK_EVERY_MS = 250;
/** A browser that has to start first takes seconds; one that has not come by now will not. */
const BROWSER_MS = 60_000;

async function untilUsed(
  isUsed: () => Promise<boolean>,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<"used" | "unused"> {
  const end = clock.now() + BROWSER_MS;
  while (clock.now() < end && !signal.aborted) {
    if (await isUsed().catch(() => false)) return "used";
    await clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined);
  }
  return "unused";
}
