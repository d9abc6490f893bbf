/** Entry of the worker thread that parses pages: hostile input can block or exhaust this thread only. */

import { parentPort } from "node:worker_threads";
import type { PageContent } from "../text/read-html.ts";
import { type Job, readContent } from "./read-content.ts";

parentPort?.on("message", (job: Job) => {
  const unreadable: PageContent = { outcome: "unreadable", wall: "format" };
  void readContent(job)
    .catch(() => unreadable)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- not a window
    .then((content) => parentPort?.postMessage(content));
});
