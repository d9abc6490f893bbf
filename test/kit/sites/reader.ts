/** A page reader in front of sites on loopback, with short waits. */

import { onTestFinished } from "vitest";
import type { PageLimits, PageReading } from "../../../src/pages/page.ts";
import { createPageReader } from "../../../src/pages/page-reader.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { type Handler, openSites, type Sites } from "./sites.ts";

export interface ReaderOnSites extends Sites {
  read(url: string): Promise<PageReading>;
  /** `outcome`, and the wall or reason where there is one. */
  outcomeOf(url: string): Promise<string>;
}

export async function openReader(
  pages: Readonly<Record<string, Handler>>,
  limits: Partial<PageLimits> = {},
): Promise<ReaderOnSites> {
  const sites = await openSites(pages);
  const reader = createPageReader({
    clock: systemClock,
    network: sites.network,
    limits: { hostIntervalMs: 0, ...limits },
  });
  onTestFinished(() => reader.close());
  const read = (url: string): Promise<PageReading> => reader.read(url, new AbortController().signal);
  return {
    ...sites,
    read,
    outcomeOf: async (url) => {
      const reading = await read(url);
      if (reading.outcome === "text") return "text";
      return `${reading.outcome}: ${reading.outcome === "unreadable" ? reading.wall : reading.reason}`;
    },
  };
}
