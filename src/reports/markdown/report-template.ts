/** The template of saved reports: ours, or a user's own in Liquid, which can neither run code nor read files. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Liquid } from "liquidjs";
import type { Log } from "../../platform/log.ts";

/** Every text in it is Markdown already: foreign text is escaped, the report is made safe. */
export interface TemplateValues {
  title: string;
  /** A sentence about a run that ended before its report was complete. */
  partial: string | undefined;
  /** Undefined where the metadata are not wanted. */
  metadata: { name: string; value: string }[] | undefined;
  body: string;
  sources: { n: number; title: string; link: string; url: string; site: string }[];
}

export interface TemplateOptions {
  /** The user's directory. */
  own: string | undefined;
  log: Log;
}

const FILE = "report.md.liquid";
const MAX_TEMPLATE_CHARACTERS = 100_000;
const MAX_RENDER_MS = 100;
/** Items of ranges and characters in filters; the report itself comes on top. */
const MAX_MEMORY = 1_000_000;

export function renderTemplate(values: TemplateValues, options: TemplateOptions | undefined): string {
  if (options?.own !== undefined) {
    try {
      return renderOwn(readFileSync(join(options.own, FILE), "utf8"), values);
    } catch (error) {
      const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
      const what = isMissing
        ? `GEMINI_SEARCH_TEMPLATES_DIR has no ${FILE}`
        : `${FILE} in GEMINI_SEARCH_TEMPLATES_DIR failed (${reasonOf(error)})`;
      options.log.warn(`${what}; the built-in one is used.`);
    }
  }
  return engine({ renderMs: 60_000, memory: 1e9 }).parseAndRenderSync(packagedTemplate(), values);
}

function renderOwn(template: string, values: TemplateValues): string {
  const memory = MAX_MEMORY + 2 * values.body.length;
  const text = engine({ renderMs: MAX_RENDER_MS, memory }).parseAndRenderSync(template, values);
  if (text.length > 10 * (memory + JSON.stringify(values).length)) throw new Error("its output is too long");
  return text;
}

/** No templates to include: a file that names another is broken, wherever that other is. */
const engine = ({ renderMs, memory }: { renderMs: number; memory: number }): Liquid =>
  new Liquid({
    templates: {},
    ownPropertyOnly: true,
    strictFilters: true,
    parseLimit: MAX_TEMPLATE_CHARACTERS,
    renderLimit: renderMs,
    memoryLimit: memory,
  });

let packaged: string | undefined;

/** `src/reports/` in the sources and `dist/` in the package stand at different depths. */
function packagedTemplate(): string {
  packaged ??= readFirst(
    ["../templates/", "../../../templates/"].map((folder) => new URL(folder + FILE, import.meta.url)),
  );
  return packaged;
}

function readFirst(places: URL[]): string {
  for (const place of places) {
    try {
      return readFileSync(fileURLToPath(place), "utf8");
    } catch {
      // The next place is tried.
    }
  }
  throw new Error(`The package has no templates/${FILE}.`);
}

/** The engine's first line names the fault and its place in the template; the lines after it quote the template. */
const reasonOf = (error: unknown): string =>
  error instanceof Error ? (error.message.split("\n", 1)[0] ?? "").slice(0, 200) : "unknown";
