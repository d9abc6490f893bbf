/**
 * Renders saved reports with the built-in Liquid template or a user's own, which can neither run code nor read files.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Liquid } from "liquidjs";
import { errorCodeOf } from "../../platform/error-code.ts";
import type { Log } from "../../platform/log.ts";

/** All values are Markdown already: untrusted text is escaped, the report is neutralized. */
export interface TemplateValues {
  title: string;
  /** When the run ended, in words. */
  date: string | undefined;
  /** A sentence about a run that ended before its report was complete. */
  partial: string | undefined;
  /** What is special about the report. */
  note: string | undefined;
  /** Undefined if the metadata is not wanted. */
  metadata: { name: string; value: string }[] | undefined;
  body: string;
  sources: { n: number; title: string; link: string; url: string; site: string }[];
}

export interface TemplateOptions {
  /** The user's template directory. */
  own: string | undefined;
  log: Log;
}

const FILE = "report.md.liquid";
const MAX_TEMPLATE_CHARACTERS = 100_000;
const MAX_RENDER_MS = 100;
/** Items of ranges and characters in filters, in addition to the report itself. */
const MAX_MEMORY = 1_000_000;

export function renderTemplate(values: TemplateValues, options: TemplateOptions | undefined): string {
  if (options?.own !== undefined) {
    try {
      return renderOwn(readFileSync(join(options.own, FILE), "utf8"), values);
    } catch (error) {
      // The directory may contain prompts only.
      if (errorCodeOf(error) !== "ENOENT")
        options.log.warn(
          `${FILE} in GEMINI_SEARCH_TEMPLATES_DIR failed (${reasonOf(error)}); using the built-in template.`,
        );
    }
  }
  return createLiquid({ renderMs: 60_000, memory: 1e9 }).parseAndRenderSync(packagedTemplate(), values);
}

function renderOwn(template: string, values: TemplateValues): string {
  const memory = MAX_MEMORY + 2 * values.body.length;
  const text = createLiquid({ renderMs: MAX_RENDER_MS, memory }).parseAndRenderSync(template, values);
  if (text.length > 10 * (memory + JSON.stringify(values).length)) throw new Error("its output is too long");
  return text;
}

/** `templates: {}`: a template cannot include another file. */
const createLiquid = ({ renderMs, memory }: { renderMs: number; memory: number }): Liquid =>
  new Liquid({
    templates: {},
    ownPropertyOnly: true,
    strictFilters: true,
    parseLimit: MAX_TEMPLATE_CHARACTERS,
    renderLimit: renderMs,
    memoryLimit: memory,
  });

let packaged: string | undefined;

/** The template has a different relative path in `src/` and in `dist/`. */
function packagedTemplate(): string {
  packaged ??= readFirst(
    ["../templates/", "../../../templates/"].map((folder) => new URL(folder + FILE, import.meta.url)),
  );
  return packaged;
}

function readFirst(candidates: URL[]): string {
  for (const url of candidates) {
    try {
      return readFileSync(fileURLToPath(url), "utf8");
    } catch {
      // Try the next path.
    }
  }
  throw new Error(`The package has no templates/${FILE}.`);
}

/** The first line of a Liquid error has the cause and position; the following lines quote the template. */
const reasonOf = (error: unknown): string =>
  error instanceof Error ? (error.message.split("\n", 1)[0] ?? "").slice(0, 200) : "unknown";
