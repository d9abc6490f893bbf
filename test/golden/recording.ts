/** One scene as text: titled sections, with everything that differs from run to run replaced by stable placeholders. */

import { stringify } from "yaml";
import manifest from "../../package.json" with { type: "json" };
import { ROOT } from "../kit/server/server.ts";

export interface Recording {
  /** A text that an earlier section has already is replaced by its title. */
  add(title: string, value: unknown): void;
  /** A value of this run, and what stands for it. */
  name(value: string, placeholder: string): void;
  /** The whole text; `ids` are those of the runs, some of which are shown in their short form only. */
  text(ids: readonly string[]): string;
}

/** Shorter texts are easier to read than a reference to them. */
const REFERENCE_FROM = 120;

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/g;
const INTERACTION = /\bv1_[\w-]{40}/g;

/** Differs between machines, versions and runs, or is long, and says nothing about the product. */
const VARYING: [RegExp, string][] = [
  [/(?<=grounding-api-redirect\/[\w-]{12})[\w-]+=*/g, "…"],
  [/127\.0\.0\.1:\d+/g, "127.0.0.1:<port>"],
  [/(?<=gemini-search-mcp[/ ]|"version":"|version: "?)\d+\.\d+\.\d+/g, "<version>"],
  [/[\d,]+(?= bytes are available)|(?<=available_bytes: )\d+/g, "<n>"],
  [/[\d,]+(?= MB free| s off from Google)/g, "<n>"],
  [/(?<="host": )"[^"]+"/g, "<host>"],
  [/(?<="pid": )\d+/g, "<pid>"],
  // Seconds since the start of a command, on a line that is repeated while nothing else happens.
  [/ \(\d+ s\)$/gm, " (<n> s)"],
  [/^(.* \(<n> s\)\n)\1+/gm, "$1"],
];

function bodyOf(value: unknown): string {
  if (typeof value === "string") return value.trimEnd();
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd();
}

/** Numbers ids by their first appearance, also where only their beginning is shown. */
function number(text: string, ids: readonly string[], kind: string): string {
  const shown = [...new Set(ids)].filter((id) => text.includes(short(id)));
  const inOrder = shown.toSorted((one, other) => text.indexOf(short(one)) - text.indexOf(short(other)));
  let numbered = text;
  for (const [index, id] of inOrder.entries()) {
    numbered = numbered.replaceAll(id, `<${kind}-${index + 1}>`);
    numbered = numbered.replaceAll(
      new RegExp(`(?<![0-9a-f])${short(id)}(?![0-9a-f])`, "g"),
      `<${kind}-${index + 1}:8>`,
    );
  }
  return numbered;
}

const short = (id: string): string => id.slice(0, 8);

export function createRecording(): Recording {
  const sections: string[] = [];
  const titles = new Map<string, string>();
  const named = new Map([
    [ROOT, "<root>"],
    [process.execPath, "<node>"],
    [manifest.version, "<version>"],
  ]);
  return {
    add: (title, value) => {
      const body = bodyOf(value);
      const known = body.length < REFERENCE_FROM ? undefined : titles.get(body);
      if (known === undefined) titles.set(body, title);
      sections.push(`=== ${title}\n\n${known === undefined ? body : `(as in: ${known})`}\n`);
    },
    name: (value, placeholder) => void named.set(value, placeholder),
    text: (ids) => {
      let text = sections.join("\n");
      const longestFirst = [...named].toSorted(([one], [other]) => other.length - one.length);
      for (const [value, placeholder] of longestFirst) text = text.replaceAll(value, placeholder);
      for (const [pattern, placeholder] of VARYING) text = text.replaceAll(pattern, placeholder);
      text = number(text, [...ids, ...(text.match(UUID) ?? [])], "id");
      return number(text, text.match(INTERACTION) ?? [], "interaction");
    },
  };
}
