/**
 * Reads cited pages on a user's request. The stages of one page, in order: its turn in the queue of its host, the host's
 * robots.txt (`robots/`), the address guard (`guard/`), the transfer with its redirects (`transport/`), and the text that
 * a reader would see (`text/`), extracted in a thread with limits of its own (`worker/`).
 */

import { hash } from "node:crypto";
import type { Clock } from "../platform/clock.ts";
import { type Network, publicNetwork } from "./guard/dial.ts";
import {
  type FailedOutcome,
  PAGE_LIMITS,
  type PageLimits,
  type PageReading,
  type PageText,
  type ReadPage,
} from "./page.ts";
import { createRobots } from "./robots/robots.ts";
import { failedOutcome, followRedirects } from "./transport/request.ts";
import { createHostQueue } from "./transport/host-queue.ts";
import { createReadingThread } from "./worker/reading-thread.ts";

export interface PageReader {
  read: ReadPage;
  /** Ends the worker thread; pages in progress end without a result. */
  close(): Promise<void>;
}

export interface PageReaderOptions {
  clock: Clock;
  limits?: Partial<PageLimits> | undefined;
  /** Tests map names to servers on loopback. */
  network?: Network | undefined;
}

type Outcome = FailedOutcome | { outcome: "text"; page: PageText };

export function createPageReader({ clock, network = publicNetwork, ...options }: PageReaderOptions): PageReader {
  const limits: PageLimits = { ...PAGE_LIMITS, ...options.limits };
  const closing = new AbortController();
  const hosts = createHostQueue(clock, limits);
  const deps = { network, limits, hosts };
  const robots = createRobots((url) => followRedirects(url, deps, closing.signal), clock);
  const thread = createReadingThread(limits);

  const fetchAndRead = async (url: string, signal: AbortSignal): Promise<Partial<PageReading> & Outcome> => {
    const followed = await followRedirects(url, { ...deps, permit: robots.permit }, signal);
    if ("error" in followed) return { finalUrl: followed.url, ...failedOutcome(followed.error) };
    const { status, contentType, body } = followed.response;
    const receipt = { finalUrl: followed.url, httpStatus: status };
    const decided = byStatus(status);
    if (decided !== undefined && !MAY_BE_WALL.includes(status)) return { ...receipt, ...decided };
    const job = { bytes: body, contentType, requestedUrl: url, finalUrl: followed.url };
    const content = await thread.read(job, signal);
    if (decided !== undefined) return { ...receipt, ...(isBarrier(content) ? content : decided) };
    return content.outcome === "text"
      ? { ...receipt, hash: hashOf(content.page), ...content }
      : { ...receipt, ...content };
  };

  return {
    read: async (url, callerSignal) => {
      const signal = AbortSignal.any([callerSignal, closing.signal]);
      signal.throwIfAborted();
      const receipt = { url, finalUrl: url, checkedAt: clock.now() };
      return { ...receipt, ...(await fetchAndRead(url, signal)) };
    },
    close: async () => {
      closing.abort();
      await thread.close();
    },
  };
}

/** These come with a page that explains them, such as a check for robots. */
const MAY_BE_WALL = [401, 403, 429, 503];

const isBarrier = (content: { outcome: string; wall?: string }): boolean =>
  content.wall === "captcha" || content.wall === "paywall" || content.wall === "login";

function byStatus(status: number): FailedOutcome | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status === 404 || status === 410) return { outcome: "gone", reason: `The site answers with status ${status}.` };
  if (status === 401) return { outcome: "unreadable", wall: "login" };
  if (status === 402) return { outcome: "unreadable", wall: "paywall" };
  if (status === 429) return { outcome: "unreachable", reason: "The site limits the rate of requests (status 429)." };
  return { outcome: "unreachable", reason: `The site answers with status ${status}.` };
}

const hashOf = ({ title, blocks }: PageText): string => hash("sha256", [title, ...blocks].join("\n"));
