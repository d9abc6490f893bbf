/** Renders prompts from files that a user can replace; inserted values stay literal and are fenced as data. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../platform/log.ts";
import { type Wishes, wishBlock, wishLines } from "./wishes.ts";
import { errorCodeOf } from "../platform/error-code.ts";

export const PROMPT_NAMES = [
  "search-prompt",
  "deep-search-prompt",
  "verify-prompt",
  "research-prompt",
  "correction-prompt",
] as const;
type PromptName = (typeof PROMPT_NAMES)[number];

interface PromptsOptions {
  packaged: string;
  /** Directory with the user's own versions, under the same file names. */
  own: string | undefined;
  now: () => number;
  log: Log;
}

export interface Prompts {
  render(name: PromptName, values: Record<string, string>, wishes?: Wishes): string;
  /** Whether the prompt has a place for this value: a user's own version may be older than it. */
  hasPlaceFor(value: string, name: PromptName): boolean;
}

export function createPrompts(options: PromptsOptions): Prompts {
  const templates = new Map<PromptName, string>();
  const template = (name: PromptName): string => {
    const cached = templates.get(name);
    if (cached !== undefined) return cached;
    const text = readTemplate(name, options);
    templates.set(name, text);
    return text;
  };
  return {
    hasPlaceFor: (value, name) => template(name).includes(`{{${value}}}`),
    render: (name, values, wishes) => {
      // Random, so that the text between the markers cannot close its own fence.
      const fence = Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString("hex");
      const date = new Date(options.now()).toISOString().slice(0, 10);
      const block = wishes === undefined ? "" : `\n\n${wishBlock(wishLines(wishes), fence)}`;
      return fillIn(withPlaceFor(block, template(name)), { date, fence, wishes: block, ...values });
    },
  };
}

/** A user's own prompt may have no place for wishes, which then come last. */
const withPlaceFor = (block: string, text: string): string =>
  block === "" || text.includes("{{wishes}}") ? text : `${text.trimEnd()}{{wishes}}\n`;

function readTemplate(name: PromptName, { packaged, own, log }: PromptsOptions): string {
  if (own !== undefined) {
    try {
      return readFileSync(join(own, `${name}.md`), "utf8");
    } catch (error) {
      const missing = errorCodeOf(error) === "ENOENT";
      if (!missing) log.warn(`${name}.md in GEMINI_SEARCH_TEMPLATES_DIR cannot be read; the built-in one is used.`);
    }
  }
  return readFileSync(join(packaged, `${name}.md`), "utf8");
}

/** Replaces in one pass with a function, so that `$&` and `{{…}}` inside a value are plain text. */
export function fillIn(template: string, values: Record<string, string>): string {
  return template.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? "") : whole,
  );
}

/** Fills in GEMINI_SYSTEM_PROMPT of an older version: single braces, and no instruction on the answer's format. */
export function fillInLegacyPrompt(
  template: string,
  values: Record<"topic" | "depth" | "model", string>,
  example: string,
): string {
  const filled = template.replaceAll(
    /\{(topic|depth|model)\}/g,
    (_whole, name: "topic" | "depth" | "model") => values[name],
  );
  return `${filled}\n\nAnswer with exactly one fenced json block and nothing else, in this form:\n\n\`\`\`json\n${example}\n\`\`\`\n`;
}
