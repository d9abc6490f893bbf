/** Joins the report of an interaction from its output steps, with citations and pictures at their places in it. */

import { isRecord } from "../../platform/is-record.ts";
import type { AgentCitation, AgentPicture, AgentSource } from "../research-agent.ts";

export type Step = Record<string, unknown>;

export interface JoinedReport {
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
 * As the SDK's `output_text`: every output after the last tool step or user input, because one report may come in
 * several with thoughts between them. Unlike there, a picture between two texts does not cut the report.
 */
export function joinReport(steps: Step[]): JoinedReport {
  const begin = beginOfReport(steps);
  const joined: JoinedReport = { report: "", earlierOutputs: [], sources: [], citations: [], pictures: [] };
  const sources: Sources = new Map();
  let offset = 0;
  for (const [index, step] of steps.entries()) {
    if (step["type"] !== "model_output") continue;
    const parts = records(step["content"]);
    if (index < begin) {
      const earlier = parts.map(ownText).join("");
      if (earlier.trim() !== "") joined.earlierOutputs.push(earlier);
    }
    for (const part of parts) {
      const picture = readPicture(part, offset);
      if (picture !== undefined && joined.pictures.length < MAX_PICTURES) joined.pictures.push(picture);
      const own = index < begin ? "" : ownText(part);
      if (own === "") continue;
      const length = Buffer.byteLength(own);
      for (const annotation of records(part["annotations"])) {
        const citation = readCitation(annotation, { sources, offset, length });
        if (citation !== undefined) joined.citations.push(citation);
      }
      joined.report += own;
      offset += length;
    }
  }
  joined.sources = [...sources.values()].map(({ source }) => source);
  return joined;
}

/** The place of the first step of the report. Tool steps after the last text are not its end. */
function beginOfReport(steps: Step[]): number {
  let begin = steps.length;
  for (let index = steps.length - 1; index >= 0; index -= 1) {
    const step = steps[index];
    const type = step?.["type"];
    if (type === "user_input") break;
    if (type === "thought") continue;
    const isOutput = type === "model_output";
    if (!isOutput && begin < steps.length) break;
    if (isOutput && records(step?.["content"]).some((part) => ownText(part) !== "")) begin = index;
  }
  return begin;
}

/** Half a character has no bytes of its own; where it met its other half, every later place would be wrong. */
const ownText = (part: Step): string => text(part["text"]).toWellFormed();

function readPicture(part: Step, offsetByte: number): AgentPicture | undefined {
  if (part["type"] !== "image") return undefined;
  const data = text(part["data"]);
  if (data === "" || data.length > MAX_PICTURE_CHARACTERS) return undefined;
  return { mimeType: text(part["mime_type"]), data, offsetByte };
}

/** By address, because a report may cite tens of thousands of times. */
type Sources = Map<string, { source: AgentSource; index: number }>;

/** Google counts bytes of UTF-8, not characters. A range that does not fit is dropped, its source kept. */
function readCitation(
  annotation: Step,
  { sources, offset, length }: { sources: Sources; offset: number; length: number },
): AgentCitation | undefined {
  const url = text(annotation["url"]) || text(annotation["document_uri"]) || text(annotation["source"]);
  if (url === "") return undefined;
  const title = text(annotation["title"]) || text(annotation["name"]) || text(annotation["file_name"]);
  const { index: sourceIndex } = sources.get(url) ?? { index: sources.size };
  if (sourceIndex === sources.size) sources.set(url, { source: { url, title }, index: sourceIndex });
  const start = annotation["start_index"] ?? 0;
  const end = annotation["end_index"];
  if (!isPlace(start) || !isPlace(end) || start >= end || end > length) return undefined;
  return { sourceIndex, startByte: offset + start, endByte: offset + end };
}

const isPlace = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0;

export const text = (value: unknown): string => (typeof value === "string" ? value : "");

export const records = (value: unknown): Step[] => (Array.isArray(value) ? value.filter(isRecord) : []);
