/** The options of a start, as they are stored with its run. */

import { z } from "zod";
import { FILE_KINDS, type Material, type RequestVariant } from "../../gemini/research-agent.ts";
import { isRecord } from "../../platform/is-record.ts";
import { anyRecord, storedJson } from "../run-row.ts";

const DEFAULT_WAIT_MS = 8 * 3_600_000;

/** The time limit of a background run. */
export const maxWaitOf = (options: Record<string, unknown>): number =>
  Number(options["max_wait_ms"] ?? DEFAULT_WAIT_MS);

const names = z.array(z.string()).optional();

const storedMaterial = z.object({
  files: z
    .array(z.object({ name: z.string(), kind: z.enum(FILE_KINDS), bytes: z.number(), sha256: z.string() }))
    .optional(),
  urls: names,
  fileSearchStores: names,
  mcpServers: names,
}) satisfies z.ZodType<Material>;

const variantSchema = z.object({
  model: z.string().optional(),
  previousInteractionId: z.string().optional(),
  input: z.string().optional(),
  collaborativePlanning: z.boolean().optional(),
  visualization: z.literal("auto").optional(),
  material: storedMaterial.optional(),
  columns: names,
}) satisfies z.ZodType<RequestVariant>;

/** How the run's request differs from a plain research; undefined for a plain one. */
export const variantOf = (options: Record<string, unknown>): RequestVariant | undefined =>
  options["variant"] === undefined ? undefined : variantSchema.parse(options["variant"]);

/** What was sent with the question besides its text; undefined for a run without it. */
export const materialOf = (options: Record<string, unknown>): Material | undefined => variantOf(options)?.material;

/** The columns of a run that makes a table; undefined for any other. */
export const columnsOf = (options: Record<string, unknown>): string[] | undefined => variantOf(options)?.columns;

/** The same as a yes or no, without reading the columns. */
export const isTableStart = ({ variant }: Record<string, unknown>): boolean =>
  isRecord(variant) && variant["columns"] !== undefined;

/** Whether the run's report may have pictures. */
export const drawsPictures = (options: Record<string, unknown>): boolean =>
  variantOf(options)?.visualization === "auto";

export const parseOptions = (json: string): Record<string, unknown> => storedJson(json, anyRecord);

interface StoredStart {
  maxWaitMs: number;
  notice?: string | undefined;
  variant?: RequestVariant | undefined;
  wishes?: object | undefined;
  followup?: object | undefined;
}

/** The input of a follow-up is not stored: it repeats the report of its parent, and every list reads the options. */
export const storedVariant = (variant: RequestVariant | undefined, isFollowup: boolean): RequestVariant | undefined =>
  isFollowup ? { ...variant, input: undefined } : variant;

export function optionsOf({ maxWaitMs, notice, variant, wishes, followup }: StoredStart): Record<string, unknown> {
  return { max_wait_ms: maxWaitMs, notice, variant: storedVariant(variant, followup !== undefined), wishes };
}

/** The options of a follow-up that no longer continues an interaction. */
export const withoutPrevious = (options: Record<string, unknown>): Record<string, unknown> => ({
  ...options,
  variant: { ...variantOf(options), previousInteractionId: undefined },
});
