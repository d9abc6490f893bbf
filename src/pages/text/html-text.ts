/** Reads HTML as the text that a person sees, with tables as lines, and what tells a real page from a wall. */

import { Parser } from "htmlparser2";
import { cleanText } from "../../platform/clean-text.ts";
import type { PageText } from "../page.ts";
import { type Attributes, type BlockWriter, createBlockWriter, isHidden } from "./block-writer.ts";
import { createFactReader } from "./page-facts.ts";

/** The parser's time per tag grows with the depth; browsers stop at 512. */
const MAX_DEPTH = 1_000;
const MAX_TITLE_CHARACTERS = 500;

/** Elements that are nested too deeply to be read in linear time. */
export class TooDeepError extends Error {}

export interface HtmlSignals {
  hasPasswordField: boolean;
  scripts: number;
  isFree?: boolean | undefined;
}

interface OpenElement {
  name: string;
  isHidden: boolean;
}

interface State {
  writer: BlockWriter;
  facts: ReturnType<typeof createFactReader>;
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
    signals: { hasPasswordField: false, scripts: 0 },
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

function open({ stack, facts, signals, writer, ...state }: State, name: string, attributes: Attributes): void {
  if (stack.length >= MAX_DEPTH) throw new TooDeepError();
  const parent = stack.at(-1);
  const isInvisible = parent?.isHidden === true || isHidden(name, attributes);
  if (name === "meta") facts.meta(attributes);
  if (name === "time") facts.time(attributes);
  if (name === "script") signals.scripts += 1;
  if (name === "input" && attributes["type"] === "password" && !isInvisible) signals.hasPasswordField = true;
  const isLinkedData = name === "script" && attributes["type"]?.toLowerCase() === "application/ld+json";
  const kind = isLinkedData ? LINKED_DATA : name;
  if (RAW.has(kind)) state.raw.length = 0;
  stack.push({ name: kind, isHidden: isInvisible || name === "title" });
  if (!isInvisible) writer.open(name, attributes);
}

function addText({ stack, writer, raw }: State, text: string): void {
  const element = stack.at(-1);
  if (element === undefined || !element.isHidden) writer.text(superscript(element, text));
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
