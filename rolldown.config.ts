/** The programs, everything bundled: what is installed is what was tested, and it starts faster. */

import type { BuildOptions, OutputOptions } from "rolldown";
import { thirdPartyNotices } from "./scripts/third-party-notices.ts";

const output: OutputOptions = {
  dir: "dist",
  format: "esm",
  minify: true,
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
};

const product: BuildOptions = { platform: "node", input: { main: "src/main.ts" }, output };

const configurations: BuildOptions[] = [
  { ...product, plugins: [thirdPartyNotices()] },
  { platform: "node", input: { simulator: "src/simulator/main.ts" }, output: { ...output, codeSplitting: false } },
  // The product with its named places to die compiled in: how recovery is tested. Never shipped.
  {
    ...product,
    output: { ...output, dir: "dist-failpoints", minify: false },
    transform: { define: { FAILPOINT: "process.env.GEMINI_SEARCH_FAILPOINT" } },
  },
];

export default configurations;
