/** Joins an interaction's report from its output steps, with the positions of citations and pictures. */

import { isRecord } from "../../platform/is-record.ts";
import type { AgentCitation, AgentPicture, AgentSource } from "../research-agent.ts";

export type InteractionStep = Record<string, unknown>;

interface JoinedReport {
  report: string;
  earlierOutputs: string[];
  sources: AgentSource[];
  citations: AgentCitation[];
  pictures: AgentPicture[];
}

/** A report with pictures has a handful, of about 200 KB each. */
const MAX_PICTURES = 64;
const MAX_PICTURE_CHARACTERS = 12_000_000;

/**
 * Joins all outputs after the last tool step or user input, like the SDK's `output_text`: a report may be split into
 * several outputs with thoughts between them. Unlike there, a picture between two texts does not end the report.
 */
export function joinReport(steps: InteractionStep[]): JoinedReport {
  const reportStart = startOfReport(steps);
  const joined: JoinedReport = { report: "", earlierOutputs: [], sources: [], citations: [], pictures: [] };
  const sources: Sources = new Map();
  let offset = 0;
  for (const [index, step] of steps.entries()) {
    if (step["type"] !== "model_output") continue;
    const parts = records(step["content"]);
    if (index < reportStart) {
      const earlier = parts.map(textOfPart).join("");
      if (earlier.trim() !== "") joined.earlierOutputs.push(earlier);
    }
    for (const part of parts) {
      const picture = readPicture(part, offset);
      if (picture !== undefined && joined.pictures.length < MAX_PICTURES) joined.pictures.push(picture);
      const text = index < reportStart ? "" : textOfPart(part);
      if (text === "") continue;
      const length = Buffer.byteLength(text);
      for (const annotation of records(part["annotations"])) {
        const citation = readCitation(annotation, { sources, offset, length });
        if (citation !== undefined) joined.citations.push(citation);
      }
      joined.report += text;
      offset += length;
    }
  }
  joined.sources = [...sources.values()].map(({ source }) => source);
  return joined;
}

/** The index of the report's first step. Tool steps after the last text are ignored. */
function startOfReport(steps: InteractionStep[]): number {
  let start = steps.length;
  for (let index = steps.length - 1; index >= 0; index -= 1) {
    const step = steps[index];
    const type = step?.["type"];
    if (type === "user_input") break;
    if (type === "thought") continue;
    const isOutput = type === "model_output";
    if (!isOutput && start < steps.length) break;
    if (isOutput && records(step?.["content"]).some((part) => textOfPart(part) !== "")) start = index;
  }
  return start;
}

/** Replaces unpaired surrogates: joined with its other half, one would shift the byte offsets of all later citations. */
const textOfPart = (part: InteractionStep): string => readText(part["text"]).toWellFormed();

function readPicture(part: InteractionStep, offsetByte: number): AgentPicture | undefined {
  if (part["type"] !== "image") return undefined;
  const data = readText(part["data"]);
  if (data === "" || data.length > MAX_PICTURE_CHARACTERS) return undefined;
  return { mimeType: readText(part["mime_type"]), data, offsetByte };
}

/** Keyed by URL, because a report may have tens of thousands of citations. */
type Sources = Map<string, { source: AgentSource; index: number }>;

/** Google counts UTF-8 bytes, not characters. A citation with an invalid range is dropped, but its source is kept. */
function readCitation(
  annotation: InteractionStep,
  { sources, offset, length }: { sources: Sources; offset: number; length: number },
): AgentCitation | undefined {
  const url = readText(annotation["url"]) || readText(annotation["document_uri"]) || readText(annotation["source"]);
  if (url === "") return undefined;
  const title = readText(annotation["title"]) || readText(annotation["name"]) || readText(annotation["file_name"]);
  const { index: sourceIndex } = sources.get(url) ?? { index: sources.size };
  if (sourceIndex === sources.size) sources.set(url, { source: { url, title }, index: sourceIndex });
  const start = annotation["start_index"] ?? 0;
  const end = annotation["end_index"];
  if (!isOffset(start) || !isOffset(end) || start >= end || end > length) return undefined;
  return { sourceIndex, startByte: offset + start, endByte: offset + end };
}

const isOffset = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0;

export const readText = (value: unknown): string => (typeof value === "string" ? value : "");

export const records = (value: unknown): InteractionStep[] => (Array.isArray(value) ? value.filter(isRecord) : []);
