/** Reads HTML as the text that a person sees, with tables as lines, and what tells a real page from a wall. */

import { Parser } from "htmlparser2";
import { cleanText } from "../../platform/clean-text.ts";
import type { PageText } from "../page.ts";
import {
  type Attributes,
  type BlockWriter,
  createBlockWriter,
  hidingRules,
  type HidingRules,
  isHidden,
} from "./block-writer.ts";
import { createFactReader } from "./page-facts.ts";

/** The parser's time per tag grows with the depth; browsers stop at 512. */
const MAX_DEPTH = 1_000;
const MAX_TITLE_CHARACTERS = 500;
const MAX_NOSCRIPT_CHARACTERS = 2_000;

/** Elements that are nested too deeply to be read in linear time. */
export class TooDeepError extends Error {}

export interface HtmlSignals {
  hasPasswordField: boolean;
  /** Text for browsers without scripts. */
  noscript: string;
  scripts: number;
  isFree?: boolean | undefined;
}

interface OpenElement {
  name: string;
  isHidden: boolean;
  isNoscript: boolean;
}

interface State {
  writer: BlockWriter;
  facts: ReturnType<typeof createFactReader>;
  rules: HidingRules;
  signals: HtmlSignals;
  stack: OpenElement[];
  /** Text of the open element that is not part of the page: JSON-LD, title. */
  raw: string[];
  title: string;
}

/** Throws `TooDeepError`. */
export function htmlToText(html: string): { page: PageText; signals: HtmlSignals } {
  const state: State = {
    writer: createBlockWriter(),
    facts: createFactReader(),
    rules: hidingRulesIn(html),
    signals: { hasPasswordField: false, noscript: "", scripts: 0 },
    stack: [],
    raw: [],
    title: "",
  };
  const parser = new Parser({
    onopentag: (name, attributes) => open(state, name, attributes),
    ontext: (text) => addText(state, text),
    onclosetag: (name) => close(state, name),
  });
  parser.write(html);
  parser.end();
  const { socialTitle = "", isFree, date, author } = state.facts.facts();
  const page: PageText = {
    title: state.title === "" ? oneLine(socialTitle) : state.title,
    blocks: state.writer
      .blocks()
      .map((block) => cleanText(block).replaceAll(/\s+/g, " ").trim())
      .filter((block) => block !== ""),
  };
  if (date !== undefined) page.date = oneLine(date);
  if (author !== undefined) page.author = oneLine(author);
  return { page, signals: { ...state.signals, isFree } };
}

const LINKED_DATA = "script:ld";
const RAW = new Set(["title", LINKED_DATA]);

function open({ stack, facts, signals, writer, rules, ...state }: State, name: string, attributes: Attributes): void {
  if (stack.length >= MAX_DEPTH) throw new TooDeepError();
  const parent = stack.at(-1);
  const isInvisible = parent?.isHidden === true || isHidden(name, attributes, rules);
  if (name === "meta") facts.meta(attributes);
  if (name === "time") facts.time(attributes);
  if (name === "script") signals.scripts += 1;
  if (name === "input" && attributes["type"] === "password" && !isInvisible) signals.hasPasswordField = true;
  const isLinkedData = name === "script" && attributes["type"]?.toLowerCase() === "application/ld+json";
  const kind = isLinkedData ? LINKED_DATA : name;
  if (RAW.has(kind)) state.raw.length = 0;
  stack.push({
    name: kind,
    isHidden: isInvisible || name === "title",
    isNoscript: name === "noscript" || parent?.isNoscript === true,
  });
  if (!isInvisible) writer.open(name, attributes);
}

function addText({ stack, signals, writer, raw }: State, text: string): void {
  const element = stack.at(-1);
  if (element === undefined || !element.isHidden) writer.text(superscript(element, text));
  else if (element.isNoscript) signals.noscript = (signals.noscript + text).slice(0, MAX_NOSCRIPT_CHARACTERS);
  else if (RAW.has(element.name)) raw.push(text);
}

function close(state: State, closed: string): void {
  const element = state.stack.pop();
  if (element === undefined) return;
  if (RAW.has(element.name)) endRaw(state, element.name);
  else if (!element.isHidden) state.writer.close(closed);
}

function endRaw(state: State, name: string): void {
  const text = state.raw.join("");
  state.raw.length = 0;
  // A drawing has titles of its own.
  if (name === "title" && state.title === "" && state.stack.every((outer) => outer.name !== "svg")) {
    state.title = oneLine(text);
  }
  if (name === LINKED_DATA) state.facts.jsonLd(text);
}

/** Of all style sheets: one may come after what it hides. */
function hidingRulesIn(html: string): HidingRules {
  const sheets: string[] = [];
  let end = 0;
  for (const { index } of html.matchAll(/<style\b/gi)) {
    if (index < end) continue;
    const length = html.slice(index).search(/<\/style/i);
    if (length === -1) break;
    end = index + length;
    sheets.push(html.slice(html.indexOf(">", index) + 1, end));
  }
  const rules = sheets.map(hidingRules);
  return {
    classes: new Set(rules.flatMap(({ classes }) => classes)),
    ids: new Set(rules.flatMap(({ ids }) => ids)),
  };
}

const SUPERSCRIPTS: Readonly<Record<string, string>> = { "-": "⁻", "−": "⁻", "+": "⁺" };

/** 10⁶ must not become 106, nor 2025¹ 20251. */
const superscript = (element: OpenElement | undefined, text: string): string =>
  element?.name === "sup"
    ? text.replaceAll(/[-−+\d]/g, (sign) => SUPERSCRIPTS[sign] ?? "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)] ?? sign)
    : text;

const oneLine = (text: string): string =>
  cleanText(text)
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, MAX_TITLE_CHARACTERS)
    .replace(/[\uD800-\uDBFF]$/, "");
