/** Fetches a page and follows its redirects by hand, so that the guard checks each address anew. */

import type { CheckedUrl } from "../guard/check-url.ts";
import { checkUrl } from "../guard/check-url.ts";
import { UnusableResponseError } from "./fetch-errors.ts";
import type { HostQueue } from "./host-queue.ts";
import { type PageResponse, type RequestDeps, requestPage } from "./request.ts";

export interface FollowDeps extends RequestDeps {
  hosts: HostQueue;
  /** Called before each request; throws if it must not be made. */
  permit?: ((checked: CheckedUrl, signal: AbortSignal) => Promise<void>) | undefined;
}

export type Followed = { url: string } & (
  | { response: PageResponse }
  /** `url` is the address whose request failed. */
  | { error: unknown }
);

/** Rejects only if the signal is aborted. */
export async function followRedirects(start: string, deps: FollowDeps, signal: AbortSignal): Promise<Followed> {
  const budget = { remainingMs: deps.limits.fetchMs };
  const visited = new Set<string>();
  let url = start;
  try {
    for (;;) {
      const checked = checkUrl(url);
      checked.url.hash = "";
      url = checked.url.href;
      if (visited.has(url) || visited.size > deps.limits.redirects) {
        throw new UnusableResponseError("The address redirects in a circle or too often.");
      }
      visited.add(url);
      await deps.permit?.(checked, signal);
      const response = await deps.hosts.withHostPermit(checked.host, signal, () =>
        spend(budget, checked, { ...deps, signal }),
      );
      if (response.location === undefined) return { url, response };
      url = targetOf(response.location, checked.url);
    }
  } catch (error) {
    signal.throwIfAborted();
    return { url, error };
  }
}

/** Time in the queue is not counted: it depends on the other pages that are read. */
async function spend(
  budget: { remainingMs: number },
  checked: CheckedUrl,
  { signal, ...deps }: RequestDeps & { signal: AbortSignal },
): Promise<PageResponse> {
  const started = performance.now();
  const timeout = AbortSignal.timeout(Math.max(1, Math.round(budget.remainingMs)));
  try {
    return await requestPage(checked, deps, AbortSignal.any([signal, timeout]));
  } catch (error) {
    // A connection that is cut off at its time limit reports that it was closed.
    timeout.throwIfAborted();
    throw error;
  } finally {
    budget.remainingMs -= performance.now() - started;
  }
}

function targetOf(location: string, base: URL): string {
  // Node.js reads headers as Latin-1; addresses outside ASCII are sent as UTF-8.
  const text = Buffer.from(location, "latin1").toString("utf8");
  return URL.canParse(text, base.href) ? new URL(text, base.href).href : text;
}
