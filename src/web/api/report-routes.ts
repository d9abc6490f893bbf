/** Routes for reports: as sanitised HTML, as files to download, and their pictures. */

import type { Hono } from "hono";
import type { App } from "../../app.ts";
import { readReportDocument } from "../../operations/save-research-to-markdown.ts";
import { perform } from "../../operations/perform.ts";
import { reportHtmlDocument, reportPage } from "../../operations/parts/report-html.ts";
import { tableDocument } from "../../operations/parts/table.ts";
import { TABLE_FORMATS } from "../../reports/table/table-files.ts";
import { reportFileName } from "../../reports/files/file-name.ts";
import type { Picture } from "../../reports/pictures/picture.ts";
import { suggestionFrame } from "../../reports/suggestions/frame.ts";
import { findPicture } from "../../runs/file-store.ts";
import type { Run } from "../../runs/run.ts";
import { outcomeResponse, jsonResponse } from "./json.ts";
import { requestedRun } from "./runs-routes.ts";
import type { Caller, CallerEnv } from "../../caller.ts";
import { NONCE_MARK, type ReportPart, type ReportView } from "../wire.ts";

export function serveReports(web: Hono<CallerEnv>, { deps }: App): void {
  const documentOf = ({ owner, from }: Caller, id: string) =>
    perform(readReportDocument, deps, {
      input: { task_id: id, reader: "file" },
      call: { owner, from, client: "page", signal: deps.leaving, progress: () => {} },
    });
  web.get("/api/runs/:id/report", async (context) => {
    const { owner } = context.get("caller");
    const { taskId } = await requestedRun(deps, context);
    const { suggestions, parts, ...report } = await reportPage(await deps.database(), { owner, task_id: taskId });
    const view: ReportView = {
      ...report,
      html: parts[0] ?? "",
      more_parts: parts.length - 1,
      ...(suggestions === undefined
        ? {}
        : { suggestions: { frame: suggestionFrame(suggestions.html, NONCE_MARK), height: suggestions.height } }),
    };
    return jsonResponse(view);
  });
  web.get("/api/runs/:id/report/parts/:n", async (context) => {
    const { owner } = context.get("caller");
    const { taskId } = await requestedRun(deps, context);
    const { parts } = await reportPage(await deps.database(), { owner, task_id: taskId });
    const html = parts[Number(/^[1-9]\d{0,3}$/.exec(context.req.param("n"))?.[0])];
    if (html === undefined) return context.notFound();
    const part: ReportPart = { html };
    return jsonResponse(part);
  });
  web.get("/api/runs/:id/pictures/:n", async (context) => {
    const { taskId } = await requestedRun(deps, context);
    const n = Number(/^[1-9]\d{0,3}$/.exec(context.req.param("n"))?.[0]);
    const picture = Number.isNaN(n) ? undefined : await findPicture(await deps.database(), taskId, n);
    return picture === undefined ? context.notFound() : pictureResponse(picture);
  });
  web.get("/api/runs/:id/report.md", async (context) => {
    const outcome = await documentOf(context.get("caller"), context.req.param("id"));
    if (outcome.failed) return outcomeResponse(outcome);
    const run = await requestedRun(deps, context);
    return download(outcome.structured.document, { run, type: "text/markdown", ending: "md" });
  });
  for (const format of TABLE_FORMATS) {
    web.get(`/api/runs/:id/table.${format}`, async (context) => {
      const { taskId } = await requestedRun(deps, context);
      const { run, text } = await tableDocument(deps, context.get("caller"), { task_id: taskId, format });
      return download(text, { run, type: format === "csv" ? "text/csv" : "application/json", ending: format });
    });
  }
  web.get("/api/runs/:id/report.html", async (context) => {
    const { owner } = context.get("caller");
    const { taskId } = await requestedRun(deps, context);
    const wanted = { owner, task_id: taskId, now: deps.clock.now() };
    const { run, html } = await reportHtmlDocument(await deps.database(), wanted);
    return download(html, { run, type: "text/html", ending: "html" });
  });
}

/** Sandboxed, so that the bytes are harmless even if a browser opens them as a document. */
const pictureResponse = ({ content, mimeType }: Picture): Response =>
  new Response(new Uint8Array(content), {
    headers: {
      "content-type": mimeType,
      "content-disposition": "inline",
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    },
  });

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
