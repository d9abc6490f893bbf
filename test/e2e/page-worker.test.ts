/** The worker of the built program reads pages and PDF files, and prints nothing. */

import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "../kit/server/server.ts";
import { makePdf } from "../kit/sites/pdf.ts";

test("the built worker reads HTML and PDF (W9)", async () => {
  const worker = new Worker(join(ROOT, "dist/page-worker.js"), { stdout: true, stderr: true, env: {} });
  onTestFinished(async () => void (await worker.terminate()));
  const printed = Promise.all([text(worker.stdout), text(worker.stderr)]);
  const read = async (bytes: Uint8Array, contentType: string): Promise<unknown> => {
    const answer = once(worker, "message");
    const url = "https://www.site-a.org/a";
    const copy = Uint8Array.from(bytes);
    worker.postMessage({ bytes: copy, contentType, requestedUrl: url, finalUrl: url }, [copy.buffer]);
    return (await answer)[0];
  };
  const line = "The dividend is 3.20 francs, as in the year before.";
  expect(await read(Buffer.from(`<title>T</title>${`<p>${line}</p>`.repeat(20)}`), "text/html")).toMatchObject({
    outcome: "text",
    page: { title: "T" },
  });
  expect(await read(makePdf([[line]]), "application/pdf")).toMatchObject({ outcome: "text", page: { blocks: [line] } });
  await worker.terminate();
  expect(await printed).toEqual(["", ""]);
});
