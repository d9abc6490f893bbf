/** Writes a simulated report: Markdown with `[cite: n]` marks, a source list, and citations by byte ranges. */

import { chartPng } from "./chart.ts";
import {
  type CourseOptions,
  createRandom,
  inLanguage,
  isModel,
  scriptOf,
  titleOf,
  type Random,
  type Topic,
} from "./script.ts";
import { redirectLink, searchWeb, type Page } from "../web.ts";

interface UrlCitation {
  type: "url_citation";
  url: string;
  /** Google sends no titles for an agent's report, and the domain for a model's answer. */
  title: string | null;
  start_index: number;
  end_index: number;
}

interface TextContent {
  type: "text";
  text: string;
  annotations?: UrlCitation[];
}

interface ImageContent {
  type: "image";
  mime_type: string;
  data: string;
}

export type ReportContent = TextContent | ImageContent;

interface ReportOptions extends CourseOptions {
  length: "whole" | "half";
  /** Replaces the invented text. */
  text: string | undefined;
  image: boolean;
  /** Sent instead of a chart. */
  images?: readonly Omit<ImageContent, "type">[] | undefined;
  imageBytes: number | undefined;
  /** Replaces the invented sources, and is listed below a given text. */
  sources: readonly { url: string; title: string }[] | undefined;
  /** Sizes of the invented text before and after the picture. */
  textBytes: readonly [number, number] | undefined;
  /** Number of outputs. */
  parts: number;
  annotations: boolean;
}

interface Source extends Page {
  /** Google's redirect link. */
  link: string;
}

const HEADINGS = [
  "Executive summary",
  "Background – and why it matters",
  "Évolution depuis 1990",
  "Figures at a glance",
  "Öffentliche Debatte",
  "日本の状況",
  "Disputed points",
  "Outlook",
] as const;

const OPENERS = [
  "",
  "Überdies: ",
  "In practice: ",
  "“Naïve” as it sounds: ",
  "Notably 📈: ",
  "要するに：",
  "",
] as const;

const NOTICE = "*Simulated by gemini-search-mcp: pages and figures are invented.*";

const MARK = /\[cite: (\d+(?:, \d+)*)\]/g;

const MIN_SOURCES = 12;
const MORE_SOURCES = 9;

function sourcesFor(topic: Topic, random: Random, options: ReportOptions): Source[] {
  if (options.sources !== undefined) return options.sources.map(sourceOf);
  const wanted = MIN_SOURCES + random(MORE_SOURCES);
  const pages = new Map<string, Page>();
  for (const query of scriptOf(topic, options).queries) {
    for (const page of searchWeb(query)) pages.set(page.url, page);
    if (pages.size >= wanted) break;
  }
  const found = [...pages.values()].slice(0, wanted);
  return found.map((page) => Object.assign(page, { link: redirectLink(page) }));
}

function sourceOf({ url, title }: { url: string; title: string }): Source {
  const page = { url, title, domain: new URL(url).hostname, snippet: "" };
  return { ...page, link: redirectLink(page) };
}

interface Writer {
  sentence: () => string;
  /** A mark of its own, as real reports have them before a colon and directly after a word of a table. */
  mark: () => string;
}

/** Cites the sources in turn, with another sentence from the second time on. */
function createWriter(sources: readonly Source[], random: Random, english: boolean): Writer {
  const openers = inLanguage(OPENERS, { english });
  let taken = 0;
  const take = (): number => taken++ % sources.length;
  const sentence = (): string => {
    const isKnown = taken >= sources.length;
    const index = take();
    const page = sources[index];
    const marks = random(3) === 0 ? [index + 1, take() + 1] : [index + 1];
    const opener = openers[random(openers.length)] ?? "";
    const again = `A second reading of ${page?.domain} puts the margin at ±${1 + random(9)} %.`;
    return `${isKnown ? again : `${opener}${page?.snippet}`} [cite: ${marks.join(", ")}]`;
  };
  return { sentence, mark: () => `[cite: ${take() + 1}]` };
}

const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => make(i));

function sectionText(heading: string, { sentence, mark }: Writer, random: Random): string {
  if (heading === "Figures at a glance") {
    const rows = times(4, (index) => `| **${2022 + index}**${mark()} | ${sentence()} |`);
    return [`| Year | Finding ${mark()} |\n| --- | --- |`, ...rows].join("\n");
  }
  if (heading === "Disputed points") {
    return `The sources disagree on these points ${mark()}:\n\n${times(5, () => `* ${sentence()}`).join("\n")}`;
  }
  return times(1 + random(3), () => times(2 + random(3), sentence).join(" ")).join("\n\n");
}

const titlesOf = (topic: Topic): string[] => [`# ${titleOf(topic)}`, NOTICE];

const sourceList = (sources: readonly Source[]): string =>
  ["**Sources:**", ...sources.map((page, index) => `${index + 1}. [${page.domain}](${page.link})`)].join("\n");

/** The answer of a model: sentences that are cited as a whole, without marks and without a list of sources. */
function modelAnswer(topic: Topic, sources: readonly Source[], english: boolean): TextContent {
  let text = `About “${titleOf(topic)}” ${english ? "-" : "–"} ${NOTICE}\n\n`;
  const annotations: UrlCitation[] = [];
  for (const { snippet, link, domain: title } of sources.slice(0, 6)) {
    const start_index = Buffer.byteLength(text);
    text += snippet;
    annotations.push({ type: "url_citation", url: link, title, start_index, end_index: Buffer.byteLength(text) });
    text += " ";
  }
  return { type: "text", text: text.trimEnd(), ...(annotations.length > 0 && { annotations }) };
}

function invent(topic: Topic, sources: readonly Source[], { random, english }: InventOptions): string {
  const writer = createWriter(sources, random, english);
  const sections = inLanguage(HEADINGS, { english }).map(
    (heading) => `## ${heading}\n\n${sectionText(heading, writer, random)}`,
  );
  return [...titlesOf(topic), ...sections, sourceList(sources)].join("\n\n");
}

/** Invents two texts of about these sizes; the second begins with a heading. */
function inventSized(topic: Topic, sources: readonly Source[], options: SizedTextOptions): [string, string] {
  const { random, bytes, english } = options;
  const writer = createWriter(sources, random, english);
  let written = 0;
  const grow = (blocks: string[], length: number): string => {
    for (let rest = length - Buffer.byteLength(blocks.join("\n\n")); rest > 0;) {
      const heading = `## ${HEADINGS[written++ % HEADINGS.length]} (${written})`;
      const section = `${heading}\n\n${sectionText("", writer, random)}`;
      blocks.push(section);
      rest -= Buffer.byteLength(section);
    }
    return blocks.join("\n\n");
  };
  const list = sourceList(sources);
  const before = grow(titlesOf(topic), bytes[0]);
  return [before, `\n\n${grow([], bytes[1] - Buffer.byteLength(list))}\n\n${list}`];
}

interface InventOptions {
  random: Random;
  english: boolean;
}

interface SizedTextOptions extends InventOptions {
  bytes: readonly [number, number];
}

/** Each citation covers its mark; a mark with two numbers yields two citations of the same range. */
function cite(text: string, sources: readonly Source[]): UrlCitation[] {
  const citations: UrlCitation[] = [];
  let [character, byte] = [0, 0];
  for (const match of text.matchAll(MARK)) {
    const [mark, numbers = ""] = match;
    byte += Buffer.byteLength(text.slice(character, match.index));
    character = match.index;
    const range = { start_index: byte, end_index: byte + Buffer.byteLength(mark) };
    for (const number of numbers.split(", ")) {
      const page = sources[Number(number) - 1];
      if (page !== undefined) citations.push({ type: "url_citation", url: page.link, title: null, ...range });
    }
  }
  return citations;
}

function firstHalf(text: string): string {
  const end = text.lastIndexOf("\n\n", text.length / 2);
  return text.slice(0, end > 0 ? end : text.length / 2).toWellFormed();
}

/** Splits before a heading in the later part of the text; without one the picture goes to the end. */
function splitForImage(text: string): [string, string] {
  const position = text.indexOf("\n\n## ", text.length / 3);
  return position > 0 ? [text.slice(0, position), text.slice(position)] : [text, ""];
}

/** Splits before headings, otherwise between paragraphs; the first part contains title and summary. */
function inParts(text: string, count: number): string[] {
  if (count === 1) return [text];
  const from = text.length / (count + 1);
  const heading = text.indexOf("\n\n## ", from);
  const position = heading > 0 ? heading : text.indexOf("\n\n", from);
  return position > 0 ? [text.slice(0, position), ...inParts(text.slice(position), count - 1)] : [text];
}

/** The contents of each output. */
export function reportFor(topic: Topic, options: ReportOptions): ReportContent[][] {
  const random = createRandom(`report ${topic.agent} ${topic.query}`);
  const sources = sourcesFor(topic, random, options);
  const { imageBytes, textBytes, english } = options;
  if (isModel(topic) && options.text === undefined && options.length === "whole") {
    return [[modelAnswer(topic, sources, english)]];
  }
  // Google ends a report with its sources; a given text without given sources is exact.
  const given = (text: string): string => (options.sources === undefined ? text : `${text}\n\n${sourceList(sources)}`);
  const chart = (): Omit<ImageContent, "type">[] => [{ mime_type: "image/png", data: chartPng(random, imageBytes) }];
  const pictures = (): ImageContent[] => (options.images ?? chart()).map((image) => ({ type: "image", ...image }));
  const whole = options.text === undefined ? invent(topic, sources, { random, english }) : given(options.text);
  const text = options.length === "half" ? firstHalf(whole) : whole;
  const block = (part: string): TextContent => {
    const annotations = options.annotations ? cite(part, sources) : [];
    return { type: "text", text: part, ...(annotations.length > 0 && { annotations }) };
  };
  if (textBytes !== undefined) {
    const [before, after] = inventSized(topic, sources, { random, english, bytes: textBytes });
    return [[block(before), ...(options.image ? pictures() : []), block(after)]];
  }
  const parts = inParts(text, options.parts);
  const splittable = parts.findIndex((part) => splitForImage(part)[1] !== "");
  const pictureIndex = splittable === -1 ? parts.length - 1 : splittable;
  return parts.map((part, index) => {
    if (!options.image || index !== pictureIndex) return [block(part)];
    const [before, after] = splitForImage(part);
    return [block(before), ...pictures(), ...(after === "" ? [] : [block(after)])];
  });
}
