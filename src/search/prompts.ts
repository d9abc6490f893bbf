/** The texts Gemini is told, from files a user can replace; what is filled in stays literal and is fenced as data. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../platform/log.ts";

export const PROMPT_NAMES = [
  "search-prompt",
  "deep-search-prompt",
  "verify-prompt",
  "research-prompt",
  "correction-prompt",
] as const;
type PromptName = (typeof PROMPT_NAMES)[number];

export interface PromptsOptions {
  packaged: string;
  /** The user's own versions, by the same file names. */
  own: string | undefined;
  now: () => number;
  log: Log;
}

export interface Prompts {
  render(name: PromptName, values: Record<string, string>): string;
}

export function createPrompts(options: PromptsOptions): Prompts {
  const templates = new Map<PromptName, string>();
  const template = (name: PromptName): string => {
    const known = templates.get(name);
    if (known !== undefined) return known;
    const text = readTemplate(name, options);
    templates.set(name, text);
    return text;
  };
  return {
    render: (name, values) =>
      fillIn(template(name), {
        date: new Date(options.now()).toISOString().slice(0, 10),
        // Unknown to whoever wrote the text between the marks, so it cannot close its own fence.
        fence: Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString("hex"),
        ...values,
      }),
  };
}

function readTemplate(name: PromptName, { packaged, own, log }: PromptsOptions): string {
  if (own !== undefined) {
    try {
      return readFileSync(join(own, `${name}.md`), "utf8");
    } catch (error) {
      const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
      if (!missing) log.warn(`${name}.md in GEMINI_SEARCH_PROMPTS_DIR cannot be read; the built-in one is used.`);
    }
  }
  return readFileSync(join(packaged, `${name}.md`), "utf8");
}

/** One pass with a function: `$&` and `{{…}}` inside a value are only text. */
export function fillIn(template: string, values: Record<string, string>): string {
  return template.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? "") : whole,
  );
}

/** GEMINI_SYSTEM_PROMPT comes from an older version: single braces, and no word of the answer's form. */
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
