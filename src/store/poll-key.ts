/** What a run is polled with, as one short mark: the name of its queue and of its rate. */

import { createHash } from "node:crypto";

export interface KeyAndAddress {
  /** A fingerprint; the key itself is stored nowhere. Undefined where access is not by key. */
  key: string | undefined;
  baseUrl: string;
}

/** Machines may reach Google by different addresses: the address counts only where there is no key. */
export const pollKeyOf = ({ key, baseUrl }: KeyAndAddress): string =>
  createHash("sha256")
    .update(JSON.stringify(key === undefined || key === "" ? ["", baseUrl] : [key]))
    .digest("hex")
    .slice(0, 16);
