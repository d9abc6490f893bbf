/** The supported lines of Node.js besides our own, as npm packages that contain the program. */

import type { Installable } from "../../../lab/clients/client.ts";

export const OTHER_NODES: readonly Installable[] = ["22.23.3", "26.9.0"].map((version) => ({
  name: `node-${version.split(".")[0]}`,
  package: "node",
  version,
  bin: "node",
}));
