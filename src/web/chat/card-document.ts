/** The document of the run card: one HTML file with everything inline, read from the build on demand. */

import { readFile } from "node:fs/promises";

/** Relative to the bundle, which is in `dist/` or in `dist-failpoints/`. */
const FILE = new URL("../dist/card/card.html", import.meta.url);

export const readCardDocument = (): Promise<string> => readFile(FILE, "utf8");
