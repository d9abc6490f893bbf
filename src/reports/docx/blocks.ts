/** The blocks of a report as blocks of a Word document: headings, lists, quotations, code, pictures and tables. */

import type { Token } from "markdown-it";
import {
  AlignmentType,
  Bookmark,
  BorderStyle,
  HeadingLevel,
  ImageRun,
  type IParagraphOptions,
  LevelFormat,
  Paragraph,
  Table,
  TableCell,
  TableRow,
  WidthType,
} from "docx";
import { describePicture, pictureAlt } from "../pictures/positions.ts";
import {
  bookmarkOf,
  directionOf,
  formulaText,
  LINE,
  noteOf,
  plainParagraph,
  runsOf,
  SOFT,
  textParagraph,
  textRun,
  type Writing,
} from "./runs.ts";

interface List {
  /** The paragraph options of an item's first paragraph. */
  numbering: { reference: ReturnType<typeof listDefinition>; instance: number };
  /** Its next paragraph is the first one of an item. */
  isItem: boolean;
}

/** Word has nine levels. */
const MAX_LEVEL = 8;
const LEVEL_INDENT = 500;
const QUOTE_INDENT = 360;

function listDefinition(isOrdered: boolean, start: number) {
  const levels = Array.from({ length: MAX_LEVEL + 1 }, (_, level) => ({
    level,
    format: isOrdered ? LevelFormat.DECIMAL : LevelFormat.BULLET,
    text: isOrdered ? `%${level + 1}.` : (["•", "◦", "▪"][level % 3] ?? "•"),
    start,
    style: { paragraph: { indent: { start: LEVEL_INDENT * (level + 1), hanging: 360 } } },
  }));
  return { reference: isOrdered ? `ordered-${start}` : "bullets", levels };
}

/** What a block stands in. */
interface Place {
  writing: Writing;
  lists: List[];
  quotes: number;
}

/** The options of the next paragraph. */
function placed({ lists, quotes }: Place): IParagraphOptions {
  const list = lists.at(-1);
  if (list?.isItem === true) {
    list.isItem = false;
    return { numbering: { ...list.numbering, level: Math.min(lists.length - 1, MAX_LEVEL) }, spacing: { after: 60 } };
  }
  const start = LEVEL_INDENT * Math.min(lists.length, MAX_LEVEL + 1) + QUOTE_INDENT * quotes;
  const indent = start === 0 ? {} : { indent: { start } };
  return quotes > 0 ? { style: "Quote", ...indent } : indent;
}

const openList = ({ lists, writing }: Place, token: Token): void =>
  void lists.push({ numbering: { reference: definitionFor(token), instance: (writing.lists += 1) }, isItem: false });

/** What a token changes for the blocks after it. */
const PLACES: Readonly<Record<string, (place: Place, token: Token) => void>> = {
  bullet_list_open: openList,
  ordered_list_open: openList,
  bullet_list_close: ({ lists }) => void lists.pop(),
  ordered_list_close: ({ lists }) => void lists.pop(),
  list_item_open: ({ lists }) => {
    const list = lists.at(-1);
    if (list !== undefined) list.isItem = true;
  },
  blockquote_open: (place) => void (place.quotes += 1),
  blockquote_close: (place) => void (place.quotes -= 1),
};

type WriteBlock = (token: Token, inline: Token | undefined, place: Place) => Paragraph;

const code: WriteBlock = ({ content }, _inline, place) => codeParagraph(content, placed(place));

/** By the token with which a block begins; `inline` is the next one. */
const BLOCKS: Readonly<Record<string, WriteBlock>> = {
  heading_open: (token, inline, { writing }) => headingOf(token, inline, writing),
  paragraph_open: (_token, inline, place) => textParagraph(inline, placed(place), place.writing),
  fence: code,
  code_block: code,
  hr: () => new Paragraph({ border: { bottom: { style: BorderStyle.SINGLE, size: 6, space: 1, color: LINE } } }),
  formula_block: (token, _inline, { writing }) =>
    new Paragraph({ style: "Formula", children: [textRun(formulaText(token, writing))] }),
  picture: ({ meta }, _inline, { writing }) => pictureParagraph(Number(meta?.["n"]), writing),
};

export function blocksOf(tokens: readonly Token[], writing: Writing): (Paragraph | Table)[] {
  const blocks: (Paragraph | Table)[] = [];
  const place: Place = { writing, lists: [], quotes: 0 };
  for (let at = 0; at < tokens.length; at += 1) {
    const [token, inline] = [tokens[at], tokens[at + 1]];
    if (token === undefined) break;
    PLACES[token.type]?.(place, token);
    const block = BLOCKS[token.type]?.(token, inline, place);
    if (block !== undefined) blocks.push(block);
    else if (token.type === "footnote_open") noteOf(writing, String(token.meta?.["label"])).inline ??= inline;
    else if (token.type === "table_open") {
      const end = tokens.findIndex(({ type }, index) => index > at && type === "table_close");
      // The paragraph keeps two tables apart, and is the space below.
      blocks.push(tableOf(tokens.slice(at, end), writing), new Paragraph({ spacing: { after: 60 } }));
      at = end;
    }
  }
  return blocks;
}

const definitionFor = (token: Token) =>
  listDefinition(token.type === "ordered_list_open", Math.max(0, Number(token.attrGet("start") ?? 1)));

const LEVELS = [
  HeadingLevel.HEADING_1,
  HeadingLevel.HEADING_2,
  HeadingLevel.HEADING_3,
  HeadingLevel.HEADING_4,
  HeadingLevel.HEADING_5,
];

/** The title is above the headings, so a section, `h2`, has the first level. */
function headingOf(token: Token, inline: Token | undefined, writing: Writing): Paragraph {
  const heading = LEVELS[Number(token.tag.slice(1)) - 2] ?? HeadingLevel.HEADING_5;
  const id = bookmarkOf(writing, String(token.attrGet("id")));
  return new Paragraph({
    heading,
    ...directionOf(inline?.content ?? ""),
    children: [new Bookmark({ id, children: runsOf(inline, writing) })],
  });
}

function codeParagraph(content: string, { indent }: IParagraphOptions): Paragraph {
  const lines = content.replace(/\n$/, "").split("\n");
  return new Paragraph({
    style: "Code",
    spacing: { after: 140 },
    ...(indent === undefined ? {} : { indent }),
    children: lines.map((line, index) => textRun(line, index === 0 ? {} : { break: 1 })),
  });
}

const MAX_PICTURE = { width: 600, height: 800 };

function pictureParagraph(n: number, { pictures }: Writing): Paragraph {
  const picture = pictures.get(n);
  if (picture === undefined) return new Paragraph({});
  const { content, mimeType, width, height } = picture;
  // Word shows no WebP.
  if (mimeType === "image/webp")
    return plainParagraph(`${pictureAlt(n)} (${describePicture(picture)}) is not part of this file.`, {
      style: "Quote",
    });
  const scale = Math.min(1, MAX_PICTURE.width / width, MAX_PICTURE.height / height);
  const run = new ImageRun({
    type: mimeType === "image/png" ? "png" : "jpg",
    data: content,
    transformation: { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) },
    altText: { name: pictureAlt(n), description: pictureAlt(n) },
  });
  return new Paragraph({ children: [run], spacing: { before: 120, after: 200 } });
}

/** Within the margins, in twentieths of a point. */
const TEXT_WIDTH = 9_026;
/** In characters: narrower columns would break their words, and one long text must not squeeze the others. */
const MIN_COLUMN = 6;
const MAX_WORD = 16;
const MAX_COLUMN = 45;
/** A table with more columns has smaller letters. */
const MAX_WIDE_COLUMNS = 6;

/** The width that the cells of a column ask for: their longest word, and more for longer texts. */
function weightOf(texts: readonly string[]): number {
  const word = Math.max(...texts.flatMap((text) => text.split(/\s+/)).map(({ length }) => length));
  const longest = Math.max(...texts.map(({ length }) => length));
  return Math.min(MAX_COLUMN, Math.max(MIN_COLUMN, Math.min(MAX_WORD, word + 2), 3 * Math.sqrt(longest)));
}

function tableOf(tokens: readonly Token[], writing: Writing): Table {
  const rows: { isHeader: boolean; cells: { cell: Token; inline: Token | undefined }[] }[] = [];
  for (const [at, token] of tokens.entries()) {
    if (token.type === "tr_open") rows.push({ isHeader: tokens[at + 1]?.type === "th_open", cells: [] });
    if (token.type === "th_open" || token.type === "td_open")
      rows.at(-1)?.cells.push({ cell: token, inline: tokens[at + 1] });
  }
  // Some programs lay a table out by the widths of its columns alone.
  const columns = Math.max(1, ...rows.map(({ cells }) => cells.length));
  const weights = Array.from({ length: columns }, (_, column) =>
    weightOf(rows.map(({ cells }) => cells[column]?.inline?.content ?? "")),
  );
  const size = columns > MAX_WIDE_COLUMNS ? { size: 16 } : {};
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const border = { style: BorderStyle.SINGLE, size: 4, color: LINE };
  return new Table({
    width: { size: TEXT_WIDTH, type: WidthType.DXA },
    columnWidths: weights.map((weight) => Math.floor((TEXT_WIDTH * weight) / total)),
    margins: { top: 50, bottom: 50, left: 70, right: 70 },
    borders: {
      top: border,
      bottom: border,
      left: border,
      right: border,
      insideHorizontal: border,
      insideVertical: border,
    },
    ...(tokens[0]?.attrGet("dir") === "rtl" ? { visuallyRightToLeft: true } : {}),
    rows: rows.map(
      ({ isHeader, cells }) =>
        new TableRow({
          tableHeader: isHeader,
          cantSplit: true,
          children: cells.map(
            ({ cell, inline }) =>
              new TableCell({
                ...(isHeader ? { shading: { fill: SOFT } } : {}),
                children: [
                  new Paragraph({
                    style: "TableText",
                    ...alignmentOf(cell),
                    ...directionOf(inline?.content ?? ""),
                    children: runsOf(inline, writing, isHeader ? { bold: true, ...size } : size),
                  }),
                ],
              }),
          ),
        }),
    ),
  });
}

function alignmentOf(cell: Token): Pick<IParagraphOptions, "alignment"> {
  const style = String(cell.attrGet("style") ?? "");
  if (style.includes("center")) return { alignment: AlignmentType.CENTER };
  return style.includes("right") ? { alignment: AlignmentType.RIGHT } : {};
}
