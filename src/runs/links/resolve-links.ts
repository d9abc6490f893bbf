/** Resolves the redirect links of finished runs in the background, after their reports are stored. */

import { isGoogleRedirect, type RedirectResolver } from "../../gemini/redirect-links.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../store/database.ts";
import { claimUnresolved, saveSourceFacts } from "./link-store.ts";

export interface LinkDeps {
  db: Database;
  clock: Clock;
  log: Log;
  resolver: RedirectResolver;
  leaving: AbortSignal;
}

const MAX_LINKS_PER_RUN = 200;
const MAX_CONCURRENT_REQUESTS = 4;
const MAX_MS_PER_RUN = 60_000;
const CHECK_INTERVAL_MS = 5_000;
/** Older runs were stored while link resolution was disabled and are not changed. */
const RECENT_MS = 24 * 3_600_000;

/** Returns the number of resolved links. Each run is tried once, even if it fails. */
export async function resolveRecentLinks({ db, clock, log, resolver, leaving }: LinkDeps): Promise<number> {
  let resolvedCount = 0;
  while (!leaving.aborted) {
    const now = clock.now();
    const claimed = await claimUnresolved(db, { since: now - RECENT_MS, now });
    if (claimed === undefined) break;
    const redirects = claimed.links.filter(isGoogleRedirect).slice(0, MAX_LINKS_PER_RUN);
    const resolved = await resolveAll(redirects, { resolver, leaving });
    if (resolved.size > 0) await saveSourceFacts(db, claimed.taskId, resolved);
    if (redirects.length > 0) {
      log.forRun(claimed.taskId).debug(`${resolved.size} of ${redirects.length} source links resolved.`);
    }
    resolvedCount += resolved.size;
  }
  return resolvedCount;
}

async function resolveAll(
  links: readonly string[],
  { resolver, leaving }: Pick<LinkDeps, "resolver" | "leaving">,
): Promise<Map<string, { resolved_url: string }>> {
  const signal = AbortSignal.any([leaving, AbortSignal.timeout(MAX_MS_PER_RUN)]);
  const resolved = new Map<string, { resolved_url: string }>();
  const queue = [...links];
  const worker = async (): Promise<void> => {
    for (let link = queue.shift(); link !== undefined && !signal.aborted; link = queue.shift()) {
      const resolved_url = await resolver.resolve(link, signal).catch(() => undefined);
      if (resolved_url !== undefined) resolved.set(link, { resolved_url });
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT_REQUESTS }, worker));
  return resolved;
}

/** Runs every few seconds until shutdown, one pass at a time. */
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
  const timer = setInterval(pass, CHECK_INTERVAL_MS).unref();
  deps.leaving.addEventListener("abort", () => clearInterval(timer), { once: true });
  pass();
}
