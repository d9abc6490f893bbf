/** A file of a run as a download, which the browser never displays. */

import { reportFileName } from "../../reports/files/file-name.ts";
import type { Run } from "../../runs/run.ts";

interface Download {
  run: Run;
  type: string;
  ending: string;
}

export function download(text: string, { run, type, ending }: Download): Response {
  const name = reportFileName({ prefix: "research", taskId: run.taskId, now: run.completedAt ?? run.createdAt }, 1);
  return new Response(text, {
    headers: {
      "content-type": `${type}; charset=utf-8`,
      // The name consists of letters, digits, hyphens and dots, so it needs no escaping.
      "content-disposition": `attachment; filename="${name.replace(/md$/, ending)}"`,
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    },
  });
}
