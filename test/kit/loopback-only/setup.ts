/** Loads the guard into the process of a test file, and names the file to the processes that it starts. */

import { createRequire } from "node:module";
import { relative } from "node:path";
import { expect } from "vitest";

createRequire(import.meta.url)("./preload.cjs");
process.env["LOOPBACK_ONLY_TEST_FILE"] = relative(process.cwd(), expect.getState().testPath ?? "");
