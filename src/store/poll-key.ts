/** Derives the short key that names the poll queue and the rate limit of an API key. */

import { hash } from "node:crypto";

export interface PollAccess {
  /** Fingerprint of the API key, which itself is not stored. Undefined when no key is used. */
  key: string | undefined;
  baseUrl: string;
}

/** Machines may use different base URLs for one key, so the URL counts only without a key. */
export const pollKeyOf = ({ key, baseUrl }: PollAccess): string =>
  hash("sha256", JSON.stringify(key === undefined || key === "" ? ["", baseUrl] : [key])).slice(0, 16);
