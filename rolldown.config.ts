/** The programs, everything bundled: what is installed is what was tested, and it starts faster. */

import { readFileSync } from "node:fs";
import type { BuildOptions, OutputOptions } from "rolldown";
import { cardDocument } from "./scripts/card-document.ts";
import { pageStyles } from "./scripts/page-styles.ts";
import { thirdPartyNotices } from "./scripts/third-party-notices.ts";

const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));

const output: OutputOptions = {
  dir: "dist",
  format: "esm",
  minify: true,
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
};

const BUILD_VERSION = JSON.stringify(version);

/**
 * Source maps beside the bundle, read only to log an unexpected error. Hidden: without a comment in the bundle no start
 * reads them. Without sources: only positions are needed.
 */
const productOutput: OutputOptions = {
  ...output,
  sourcemap: "hidden",
  sourcemapExcludeSources: true,
  // What a start loads, in three files instead of 24, each of which has to be found, read and linked. The first is loaded
  // before the cache of compiled code is enabled, and by the thread that reads pages: nothing large may be in it. A
  // command needs the second, but not the SDK in the third.
  codeSplitting: {
    groups: [
      {
        name: "base",
        test: /[\\/]src[\\/](?:config[\\/](?:directory|environment)|platform[\\/](?:clean-text|clock|error-code|is-record|shutdown|unexpected-error))\.ts$/,
        priority: 3,
      },
      {
        name: "app",
        // Besides the app what stdio shares with commands, which otherwise were with the SDK.
        test: /[\\/](?:src[\\/](?:app|caller|notifications[\\/]event-names|platform[\\/]process-identity|runs[\\/]history[\\/]change-feed|store[\\/]dialect)\.ts|zod[\\/]v4[\\/]classic[\\/](?:compat|iso)\.js)$/,
        priority: 2,
      },
      { name: "mcp", test: /[\\/]src[\\/]mcp[\\/]stdio[\\/]stdio\.ts$/, priority: 1 },
    ],
  },
};

/** A worker thread is started from a file of its own. */
const WORKERS = {
  "page-worker": "src/pages/worker/page-worker.ts",
};

const product: BuildOptions = {
  platform: "node",
  // Its main file is in a form whose imports no bundler sees.
  resolve: { alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" } },
  input: { main: "src/main.ts", ...WORKERS },
  // Installed by whoever wants them, and loaded only then. The canvas draws PDF pages, which are only read here.
  external: ["pg", "pg-boss", "@napi-rs/canvas"],
  output: productOutput,
  transform: { define: { BUILD_VERSION } },
};

const configurations: BuildOptions[] = [
  { ...product, plugins: [thirdPartyNotices()] },
  { platform: "node", input: { simulator: "simulator/main.ts" }, output: { ...output, codeSplitting: false } },
  {
    platform: "browser",
    input: { page: "src/web/page/main.tsx" },
    // What few users open is loaded when it is opened.
    output: { ...output, dir: "dist/page" },
    transform: { target: "es2023" },
    plugins: [pageStyles()],
  },
  {
    platform: "browser",
    input: { card: "src/web/page/chat/main.tsx" },
    output: { ...output, dir: "dist/card", format: "iife", codeSplitting: false },
    transform: { target: "es2023", define: { BUILD_VERSION } },
    plugins: [cardDocument()],
  },
  // Never shipped: the product with its failpoints, and a server with the conformance fixtures.
  {
    ...product,
    input: { main: "src/main.ts", ...WORKERS, conformance: "test/conformance/main.ts" },
    output: { ...productOutput, dir: "dist-failpoints", minify: false },
    transform: {
      define: {
        BUILD_VERSION,
        FAILPOINT: "process.env.GEMINI_SEARCH_FAILPOINT",
        START_LIMIT_MS: "process.env.GEMINI_SEARCH_START_LIMIT_MS",
      },
    },
  },
];

export default configurations;
