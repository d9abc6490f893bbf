/** Paths as people write them. */

import { sep } from "node:path";

/** With `~` for the home directory. */
export const tilde = (path: string, home: string): string =>
  home !== "" && (path === home || path.startsWith(home + sep)) ? `~${path.slice(home.length)}` : path;
