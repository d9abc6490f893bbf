/** Identifies an API key in the database, which never contains the key. */

import { createHash } from "node:crypto";

export const fingerprint = (key: string | undefined): string | undefined =>
  key === undefined ? undefined : createHash("sha256").update(key).digest("hex").slice(0, 16);
