/** Routes that export runs as an archive, and import archives and Markdown reports. */

import type { Hono } from "hono";
import { z } from "zod";
import type { App } from "../../app.ts";
import { type CallerEnv, LOCAL_OWNER } from "../../caller.ts";
import { AppError } from "../../errors.ts";
import { archiveName } from "../../operations/library/export-library.ts";
import { importLibrary, MAX_MARKDOWN_BYTES } from "../../operations/library/import-library.ts";
import { taskIdField } from "../../operations/operation.ts";
import { parseInput, perform } from "../../operations/perform.ts";
import { outcomeResponse, readBytes } from "./json.ts";
import { attachment } from "./report-routes.ts";

const MAX_EXPORTED = 500;
const exportInput = z.object({ id: z.array(taskIdField).max(MAX_EXPORTED) });
const importInput = z.object({
  name: z.string().min(1).max(255),
  at: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
});

/** Of the operator. A larger archive is imported in the terminal, which does not hold it in memory. */
const MAX_IMPORT_BYTES = 100_000_000;
/** Each is in memory. One user has one, so that others can import. */
const MAX_IMPORTS_AT_ONCE = 8;

export function serveLibrary(web: Hono<CallerEnv>, { deps, shutdown }: App): void {
  const importing = new Set<string>();
  web.get("/api/library.zip", async (context) => {
    const { owner } = context.get("caller");
    const { id } = parseInput(exportInput, { id: context.req.queries("id") ?? [] });
    const { archiveOf } = await import("../../operations/library/archive.ts");
    const archive = archiveOf(deps, { owner, taskIds: id.length === 0 ? undefined : id });
    return attachment({ title: archiveName(deps.clock.now()), ending: "zip", content: ReadableStream.from(archive) });
  });
  web.post("/api/library", async (context) => {
    const { name, at } = parseInput(importInput, context.req.query());
    const { owner } = context.get("caller");
    if (importing.has(owner) || importing.size === MAX_IMPORTS_AT_ONCE) throw busy();
    importing.add(owner);
    try {
      // Others import no archives.
      const content = await readBytes(context.req.raw, owner === LOCAL_OWNER ? MAX_IMPORT_BYTES : MAX_MARKDOWN_BYTES);
      const caller = { ...context.get("caller"), client: "page", signal: deps.leaving, progress: () => {} };
      const call = { ...caller, uploads: [{ name, content, at }] };
      return outcomeResponse(await shutdown.during(perform(importLibrary, deps, { input: {}, call })));
    } finally {
      importing.delete(owner);
    }
  });
}

const busy = (): AppError =>
  new AppError({
    code: "BUSY",
    message: "Other files are being imported right now. Nothing was imported.",
    suggestion: "Try again in a moment.",
  });
