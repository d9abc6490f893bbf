/** The key and address that a run is polled with, as one short mark: the name of its queue and of its rate. */

import { createHash } from "node:crypto";

export interface KeyAndAddress {
  /** A fingerprint; the key itself is stored nowhere. */
  key: string | undefined;
  baseUrl: string;
}

export const pollKeyOf = ({ key, baseUrl }: KeyAndAddress): string =>
  createHash("sha256")
    .update(JSON.stringify([key ?? "", baseUrl]))
    .digest("hex")
    .slice(0, 16);
