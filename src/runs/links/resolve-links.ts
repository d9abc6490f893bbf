/** Resolves the redirect links of finished runs, after their reports are stored and apart from them. */

import { isGoogleRedirect, type RedirectResolver } from "../../gemini/redirect-links.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../store/database.ts";
import { claimUnresolved, saveResolved } from "./link-store.ts";

export interface LinkDeps {
  db: Database;
  clock: Clock;
  log: Log;
  resolver: RedirectResolver;
  leaving: AbortSignal;
}

const MAX_LINKS_PER_RUN = 200;
const AT_ONCE = 4;
const RUN_LIMIT_MS = 60_000;
const CHECK_EVERY_MS = 5_000;
/** Runs that ended longer ago were stored while this was switched off: they stay as they are. */
const RECENT_MS = 24 * 3_600_000;

/** Returns how many links got an address. Each run is tried once, whatever comes of it. */
export async function resolveRecentLinks({ db, clock, log, resolver, leaving }: LinkDeps): Promise<number> {
  let found = 0;
  while (!leaving.aborted) {
    const now = clock.now();
    const claimed = await claimUnresolved(db, { since: now - RECENT_MS, now });
    if (claimed === undefined) break;
    const waiting = claimed.links.filter(isGoogleRedirect).slice(0, MAX_LINKS_PER_RUN);
    const resolved = await resolveAll(waiting, { resolver, leaving });
    if (resolved.size > 0) await saveResolved(db, claimed.taskId, resolved);
    if (waiting.length > 0) {
      log.forRun(claimed.taskId).debug(`${resolved.size} of ${waiting.length} source links resolved.`);
    }
    found += resolved.size;
  }
  return found;
}

async function resolveAll(
  links: readonly string[],
  { resolver, leaving }: Pick<LinkDeps, "resolver" | "leaving">,
): Promise<Map<string, string>> {
  const signal = AbortSignal.any([leaving, AbortSignal.timeout(RUN_LIMIT_MS)]);
  const resolved = new Map<string, string>();
  const queue = [...links];
  const worker = async (): Promise<void> => {
    for (let link = queue.shift(); link !== undefined && !signal.aborted; link = queue.shift()) {
      const address = await resolver.resolve(link, signal);
      if (address !== undefined) resolved.set(link, address);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return resolved;
}

/** Every few seconds until the process leaves; one pass at a time. */
export function startLinkResolution(deps: LinkDeps, during: (work: Promise<unknown>) => Promise<unknown>): void {
  let busy = false;
  const pass = (): void => {
    if (busy || deps.leaving.aborted) return;
    busy = true;
    const work = resolveRecentLinks(deps)
      .catch((error: unknown) => {
        deps.log.debug(`Source links were not resolved: ${error instanceof Error ? error.message : "unknown"}`);
      })
      .finally(() => (busy = false));
    void during(work);
  };
  const timer = setInterval(pass, CHECK_EVERY_MS).unref();
  deps.leaving.addEventListener("abort", () => clearInterval(timer), { once: true });
  pass();
}
