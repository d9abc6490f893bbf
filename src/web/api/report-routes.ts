/** Routes for reports: as sanitised HTML, as files to download, and their pictures. */

import type { Hono } from "hono";
import type { App } from "../../app.ts";
import { compareReports } from "../../operations/compare-reports.ts";
import {
  ADDITIONS,
  htmlFile,
  markdownFile,
  type SavedContent,
  tableAsFile,
  wordFile,
} from "../../operations/parts/report-file.ts";
import { perform } from "../../operations/perform.ts";
import { reportPage } from "../../operations/parts/report-html.ts";
import { BIBLIOGRAPHY_FILES } from "../../reports/bibliography/bibliography-formats.ts";
import { TABLE_FORMATS } from "../../reports/table/table-files.ts";
import { type FileEnding, titledFileName } from "../../reports/files/file-name.ts";
import type { Picture } from "../../reports/pictures/picture.ts";
import { suggestionFrame } from "../../reports/suggestions/frame.ts";
import { findPicture } from "../../runs/file-store.ts";
import { jsonResponse, outcomeResponse } from "./json.ts";
import { requestedRun } from "./runs-routes.ts";
import type { CallerEnv } from "../../caller.ts";
import { isoTime } from "../../platform/clock.ts";
import { NONCE_MARK, type ReportView } from "../wire.ts";

export function serveReports(web: Hono<CallerEnv>, { deps }: App): void {
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
    return jsonResponse({ html });
  });
  web.get("/api/runs/:id/changes", async (context) => {
    const { taskId } = await requestedRun(deps, context);
    const call = { ...context.get("caller"), client: "page", wholeReports: true, progress: () => {} };
    const signal = AbortSignal.any([context.req.raw.signal, deps.leaving]);
    const earlier = context.req.query("earlier");
    const input = { task_id: taskId, ...(earlier === undefined ? {} : { earlier }) };
    return outcomeResponse(await perform(compareReports, deps, { input, call: { ...call, signal } }));
  });
  web.get("/api/runs/:id/earlier", async (context) => {
    const run = await requestedRun(deps, context);
    const { earlierReports } = await import("../../operations/question/asked-before.ts");
    const reports = await earlierReports(deps, run);
    return jsonResponse({
      reports: reports.map(({ taskId, createdAt }) => ({ task_id: taskId, created_at: isoTime(createdAt) })),
    });
  });
  web.get("/api/runs/:id/pictures/:n", async (context) => {
    const { taskId } = await requestedRun(deps, context);
    const n = Number(/^[1-9]\d{0,3}$/.exec(context.req.param("n"))?.[0]);
    const picture = Number.isNaN(n) ? undefined : await findPicture(await deps.database(), taskId, n);
    return picture === undefined ? context.notFound() : pictureResponse(picture);
  });
  for (const [format, contentOf] of Object.entries(REPORT_FILES)) {
    web.get(`/api/runs/:id/report.${format}`, async (context) => {
      const { owner } = context.get("caller");
      const { taskId } = await requestedRun(deps, context);
      const wanted = (context.req.query("with") ?? "").split(",");
      const additions = ADDITIONS.filter((addition) => wanted.includes(addition));
      const isWithFigures = context.req.query("metadata") !== "0";
      const request = { owner, task_id: taskId, with: additions, include_metadata: isWithFigures };
      return download(await contentOf(deps, request));
    });
  }
  for (const format of TABLE_FORMATS) {
    web.get(`/api/runs/:id/table.${format}`, async (context) => {
      const { owner } = context.get("caller");
      const { taskId } = await requestedRun(deps, context);
      return download(await tableAsFile(deps, { owner, task_id: taskId }, format));
    });
  }
}

const REPORT_FILES = { md: markdownFile, html: htmlFile, docx: wordFile };

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

const TYPES: Record<FileEnding, string> = {
  zip: "application/zip",
  md: "text/markdown; charset=utf-8",
  html: "text/html; charset=utf-8",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  csv: "text/csv; charset=utf-8",
  json: "application/json; charset=utf-8",
  bib: `${BIBLIOGRAPHY_FILES.bibtex.type}; charset=utf-8`,
  ris: `${BIBLIOGRAPHY_FILES.ris.type}; charset=utf-8`,
};

/** The page cannot save pictures beside a file, so a Markdown file only mentions them. */
export const download = ({ title, text, ending }: SavedContent, type?: string): Response =>
  attachment({ title, ending, content: typeof text === "function" ? text("") : text }, type);

interface Attachment extends Pick<SavedContent, "title" | "ending"> {
  content: ConstructorParameters<typeof Response>[0];
}

export function attachment({ title, ending, content }: Attachment, type = TYPES[ending]): Response {
  const name = titledFileName({ title, ending }, 1);
  // The name has no quotation marks. Clients without RFC 6266 get its ASCII characters.
  const plain = name.replaceAll(/[^\x20-\x7e]+/g, "_");
  return new Response(content, {
    headers: {
      "content-type": type,
      "content-disposition": `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name)}`,
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    },
  });
}
