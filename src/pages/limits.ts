/** Bounds of fetching and reading one page. */

export interface PageLimits {
  /** Time on the network for one page, over all its redirects; waiting in the queue of the host is not counted. */
  fetchMs: number;
  /** As received. */
  wireBytes: number;
  /** After decompression. */
  textBytes: number;
  headerBytes: number;
  redirects: number;
  readMs: number;
  /** Growth of the process while a page is read, in bytes. */
  readMemoryBytes: number;
  /** Between the end of one request to a host and the start of the next. */
  hostIntervalMs: number;
  concurrentHosts: number;
}

const MEGABYTE = 1_048_576;

export const PAGE_LIMITS: PageLimits = {
  fetchMs: 15_000,
  wireBytes: 8 * MEGABYTE,
  textBytes: 16 * MEGABYTE,
  headerBytes: 16_384,
  redirects: 8,
  readMs: 10_000,
  readMemoryBytes: 256 * MEGABYTE,
  hostIntervalMs: 1_000,
  concurrentHosts: 4,
};
