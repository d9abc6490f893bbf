/** Keeps every result below the size that MCP clients accept in one message, with a note on how to read the rest. */

import type { CallToolResult } from "@modelcontextprotocol/server";
import { isRecord } from "../platform/is-record.ts";

/** The official client closes the connection on a line of more than 10 MB; the JSON-RPC envelope is small. */
const MAX_RESULT_BYTES = 8_000_000;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? "");

const TOO_LARGE = "This answer is larger than MCP clients accept in one message (8 MB).";
const IN_PARTS =
  "Nothing is lost: get_research_results reads it in parts (section outline, then sections by their number; section sources for the sources), save_research_to_markdown writes it to a file.";

/** Drops the pictures first, then everything but what leads to the stored run. */
export function boundedToolResult(result: CallToolResult): CallToolResult {
  if (bytesOf(result) <= MAX_RESULT_BYTES) return result;
  const texts = result.content.filter(({ type }) => type === "text");
  if (texts.length < result.content.length) {
    const left = "Its pictures are left out: save_research_to_markdown writes them beside the report.";
    const content = [...texts, { type: "text" as const, text: `${TOO_LARGE} ${left}` }];
    return boundedToolResult({ ...result, content });
  }
  const whole = isRecord(result.structuredContent) ? result.structuredContent : {};
  const { success, error, task_id, status, progress, metadata } = whole;
  const taskId = task_id ?? (isRecord(metadata) ? metadata["task_id"] : undefined);
  const note = taskId === undefined ? `${TOO_LARGE} Ask for less.` : `${TOO_LARGE} ${IN_PARTS}`;
  const facts = { success, ...briefError(error), task_id: taskId, status, progress, note };
  const structuredContent = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
  const { success: _success, ...shown } = structuredContent;
  const text = Object.entries(shown)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
  return { content: [{ type: "text", text }], structuredContent, isError: result.isError };
}

/** Without details, which may contain the best text that a failed search obtained. */
function briefError(error: unknown): Record<string, unknown> {
  if (!isRecord(error)) return {};
  const { code, message, suggestion } = error;
  return { error: { code, message, ...(suggestion === undefined ? {} : { suggestion }) } };
}

/** The beginning of a document, with a last line on how to read the rest. */
export function boundedDocument(text: string): string {
  const bytes = bytesOf(text);
  if (bytes <= MAX_RESULT_BYTES) return text;
  // Bytes per character vary within a text, so the proportional cut is only a first guess.
  let cut = text.length;
  let kept = text;
  for (let size = bytes; size > MAX_RESULT_BYTES - 10_000; size = bytesOf(kept)) {
    cut = Math.floor(cut * Math.min(0.95, (MAX_RESULT_BYTES - 10_000) / size));
    const line = text.lastIndexOf("\n", cut);
    kept = text.slice(0, line > cut / 2 ? line : cut).toWellFormed();
  }
  const note = `These are the first ${kept.length} of ${text.length} characters: MCP clients accept no message above 8 MB.`;
  return `${kept}\n\n---\n\n${note} ${IN_PARTS}\n`;
}
