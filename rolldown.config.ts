/** Two programs, everything bundled: what is installed is what was tested, and it starts faster. */

import { defineConfig, type OutputOptions } from "rolldown";
import { thirdPartyNotices } from "./scripts/third-party-notices.ts";

const output: OutputOptions = {
  dir: "dist",
  format: "esm",
  minify: true,
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
};

/** The product with its named places to die compiled in: how recovery is tested. Never shipped. */
const failpoints = {
  platform: "node",
  input: { main: "src/main.ts" },
  output: { ...output, dir: "dist-failpoints", minify: false },
  transform: { define: { FAILPOINT: "process.env.GEMINI_SEARCH_FAILPOINT" } },
} as const;

export default defineConfig([
  failpoints,
  { platform: "node", input: { main: "src/main.ts" }, output, plugins: [thirdPartyNotices()] },
  { platform: "node", input: { simulator: "src/simulator/main.ts" }, output: { ...output, codeSplitting: false } },
]);
