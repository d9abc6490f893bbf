/** `fetch` of the ChatGPT profile: the text of a run, of a section of its report, or what it says about a source. */

import { z } from "zod";
import { isoTime } from "../../platform/clock.ts";
import { withExpiry } from "../../reports/link-expiry.ts";
import { readStored } from "../../runs/history/read.ts";
import type { Run, RunResult } from "../../runs/run.ts";
import { sourceLine } from "../get-research-results.ts";
import { CAUTION, defineOperation, type OperationDeps } from "../operation.ts";
import { DEFAULT_LIMIT } from "../reading/answer-limit.ts";
import { readReport, withUrlsOnce } from "../reading/report-reading.ts";
import { itemId, parseItemId, runAddress } from "./item-id.ts";
import { unknownItem } from "./chatgpt-search.ts";

const MAX_PASSAGES = 20;

export const chatgptFetch = defineOperation({
  name: "fetch",
  title: "Fetch",
  description: "Returns the full text of an item that search found. Free, instant, local.",
  input: z.strictObject({
    id: z
      .string({ error: "{id} must be a string." })
      .trim()
      .min(1, { error: "{id} must not be empty." })
      .max(100, { error: "There is no item with this id." })
      .describe("An id that search returned."),
  }),
  output: z.looseObject({
    id: z.string().optional(),
    title: z.string().optional(),
    text: z.string().optional(),
    url: z.string().optional(),
    metadata: z.looseObject({}).optional(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  positional: "id",
  run: async (deps, { id }, { owner }) => {
    const item = parseItemId(id);
    if (item === undefined) throw unknownItem();
    const { run, result } = await readStored(await deps.database(), owner, item.taskId);
    if (result === undefined) throw unknownItem();
    const metadata = metadataOf(run, result);
    if (item.source !== undefined) return { id, ...(await sourceItem(result, item.source)), metadata };
    return { id, ...(await reportItem(deps.settings, { run, result, section: item.section })), metadata };
  },
  toText: (output) => JSON.stringify(output),
});

/** Texts only: a client may show or index them as they are. */
const metadataOf = (run: Run, { sources, partial }: RunResult): Record<string, string> => ({
  caution: CAUTION,
  question: run.query,
  kind: run.kind,
  status: run.status,
  created_at: isoTime(run.createdAt),
  sources: String(sources.length),
  ...(partial ? { partial: "true" } : {}),
});

interface Report {
  run: Run;
  result: RunResult;
  section: string | undefined;
}

/** A report that is too long for one answer comes as its opening, with the ids of its sections. */
async function reportItem({ publicUrl }: OperationDeps["settings"], { run, result, section }: Report) {
  const sourced = { ...result, sources: withExpiry(result.sources, run.completedAt ?? run.updatedAt) };
  const numbered = await withUrlsOnce(sourced);
  const reading = readReport(numbered, { section, maxCharacters: DEFAULT_LIMIT.max });
  const { report = "", outline = [], sources, next_section: next } = reading;
  const sections = outline.map((entry) => `${itemId({ taskId: run.taskId, section: entry.section })} ${entry.title}`);
  const continued = section !== undefined && next !== undefined ? [itemId({ taskId: run.taskId, section: next })] : [];
  const text = [
    report,
    ...block("Sources", sources.map(sourceLine)),
    ...block("Sections, by the ids to fetch", sections),
    ...block("Continued, by the id to fetch", continued),
  ].join("\n\n");
  return { title: run.title ?? run.query, text, url: runAddress(publicUrl, run.taskId) };
}

const block = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`${title}:\n${lines.join("\n")}`];

/** The page itself is not stored: its item has what the report says on its authority. */
async function sourceItem(result: RunResult, n: number) {
  const source = result.sources.find((one) => one.n === n);
  if (source === undefined) throw unknownItem();
  const passages = (await passagesCiting(result, n)).slice(0, MAX_PASSAGES);
  const text =
    passages.length === 0 ? "The report names this page without citing it in its text." : passages.join("\n\n");
  const { title, domain, url, resolved_url } = source;
  return { title: title === "" ? domain : title, text, url: resolved_url ?? url };
}

async function passagesCiting({ report, sources, citations = [] }: RunResult, n: number): Promise<string[]> {
  if (citations.length > 0) {
    const cited = citations.filter((citation) => citation.n === n);
    return [...new Set(cited.map(({ start, end }) => report.slice(start, end).trim()))];
  }
  const { citeByNumber } = await import("../../reports/document/numbered.ts");
  return citeByNumber(report, sources)
    .report.split(/\n{2,}/)
    .filter((paragraph) => paragraph.includes(`[${n}]`));
}
