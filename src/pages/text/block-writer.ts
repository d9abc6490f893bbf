/** Collects the visible text of a page as blocks while the parser reports elements and text. */

import { type Cell, type Table, tableLines } from "./tables.ts";

/** Deeper tables are read as plain text: every level copies the text of the levels below it. */
const MAX_NESTED_TABLES = 4;
const BLOCKS = new Set(
  (
    "address article aside blockquote body center details dialog dir div dl fieldset figcaption figure footer form h1 h2 " +
    "h3 h4 h5 h6 header hgroup hr html legend li main ol p pre section summary table tbody tfoot thead tr ul"
  ).split(" "),
);

interface OpenTable extends Table {
  cell: (Cell & { pending: string[] }) | undefined;
  isInHead: boolean;
  captionText: string[] | undefined;
}

/** Where text goes: the page or a cell. */
interface Target {
  pending: string[];
  blocks: string[];
}

export interface BlockWriter {
  text(text: string): void;
  open(name: string, attributes: Attributes): void;
  close(name: string): void;
  /** Ends the page. */
  blocks(): string[];
}

interface State {
  page: Target;
  tables: OpenTable[];
  /** Open tables that are nested too deeply. */
  ignoredTables: number;
  /** The last heading: it names a table that has no caption. */
  heading: string;
  /** A term of a description list that waits for its description. */
  term: string;
}

export function createBlockWriter(): BlockWriter {
  const state: State = { page: { pending: [], blocks: [] }, tables: [], ignoredTables: 0, heading: "", term: "" };
  return {
    text: (text) => void (state.tables.at(-1)?.captionText ?? targetOf(state).pending).push(text),
    open: (name, attributes) => open(state, name, attributes),
    close: (name) => close(state, name),
    blocks: () => {
      endBlock(state);
      while (state.tables.length > 0) closeTable(state);
      endBlock(state);
      endTerm(state);
      return state.page.blocks;
    },
  };
}

const targetOf = ({ tables, page }: State): Target => tables.findLast(({ cell }) => cell !== undefined)?.cell ?? page;

const tableOf = ({ tables, ignoredTables }: State): OpenTable | undefined =>
  ignoredTables === 0 ? tables.at(-1) : undefined;

function open(state: State, name: string, attributes: Attributes): void {
  const table = tableOf(state);
  if (name === "td" || name === "th") {
    if (table === undefined) endBlock(state);
    else openCell(state, table, { name, attributes });
  }
  if (name === "caption" && table !== undefined) table.captionText = [];
  if (name === "dt" || name === "dd" || BLOCKS.has(name)) endBlock(state);
  if (name === "dt") endTerm(state);
  if (name === "br") targetOf(state).pending.push(" ");
  if (name === "table") openTable(state);
  if (name === "thead" && table !== undefined) table.isInHead = true;
  if (name === "tr" && table !== undefined) {
    closeCell(state);
    table.rows.push([]);
    if (table.isInHead) table.headRows = table.rows.length;
  }
}

function close(state: State, name: string): void {
  const table = tableOf(state);
  if (name === "dt") state.term = take(state);
  else if (/^h[1-6]$/.test(name)) state.heading = endBlock(state) || state.heading;
  else if (BLOCKS.has(name) || name === "dd") endBlock(state);
  if (name === "dl") endTerm(state);
  if (name === "table") {
    if (state.ignoredTables > 0) state.ignoredTables -= 1;
    else closeTable(state);
  }
  if (table === undefined) return;
  if (name === "td" || name === "th") closeCell(state);
  if (name === "thead") table.isInHead = false;
  if (name === "caption" && table.captionText !== undefined) {
    table.caption = oneLine(table.captionText);
    table.captionText = undefined;
  }
}

const oneLine = (pieces: readonly string[]): string => pieces.join("").replaceAll(/\s+/g, " ").trim();

/** Ends the block in progress and returns its text, without keeping it. */
function take(state: State): string {
  const { pending } = targetOf(state);
  const text = oneLine(pending);
  pending.length = 0;
  return text;
}

function endBlock(state: State): string {
  const text = take(state);
  if (text === "") return text;
  targetOf(state).blocks.push(state.term === "" ? text : `${state.term}: ${text}`);
  state.term = "";
  return text;
}

/** A term without a description is a block of its own. */
function endTerm(state: State): void {
  if (state.term !== "") targetOf(state).blocks.push(state.term);
  state.term = "";
}

function openTable(state: State): void {
  if (state.tables.length >= MAX_NESTED_TABLES) {
    state.ignoredTables += 1;
    return;
  }
  const empty: Table = { caption: "", rows: [], headRows: 0, isLayout: false };
  state.tables.push({ ...empty, cell: undefined, isInHead: false, captionText: undefined });
}

interface CellTag {
  name: string;
  attributes: Attributes;
}

function openCell(state: State, table: OpenTable, { name, attributes }: CellTag): void {
  closeCell(state);
  if (table.rows.length === 0) table.rows.push([]);
  const isHead = name === "th" || attributes["scope"] === "row" || attributes["role"] === "rowheader";
  table.cell = { text: "", blocks: [], pending: [], isHead, ...spansOf(attributes) };
}

function closeCell(state: State): void {
  const table = state.tables.at(-1);
  if (table?.cell === undefined) return;
  endBlock(state);
  const { pending: _pending, ...cell } = table.cell;
  table.cell = undefined;
  table.rows.at(-1)?.push({ ...cell, text: cell.blocks.join(" ") });
}

function closeTable(state: State): void {
  closeCell(state);
  const table = state.tables.pop();
  if (table === undefined) return;
  const outer = state.tables.at(-1);
  if (outer !== undefined) outer.isLayout = true;
  const { blocks } = targetOf(state);
  const caption = table.caption === "" ? state.heading : table.caption;
  for (const line of tableLines({ ...table, caption })) blocks.push(line);
}

const spansOf = (attributes: Attributes): { columns: number; rows: number } => ({
  columns: spanOf(attributes["colspan"]),
  rows: spanOf(attributes["rowspan"]),
});

const spanOf = (text: string | undefined): number => Math.max(1, Math.min(Math.trunc(Number(text)) || 1, 1_000));

// Decides which elements of a page are not shown. Hidden text must never support a claim.

/** Never shown, or not part of the page's own statement: struck-out text was withdrawn. */
const HIDDEN_ELEMENTS = new Set(
  (
    "audio canvas datalist del desc embed head iframe map math-annotation metadata noembed noframes noscript object option " +
    "param rp rt s script select source strike style template textarea track video"
  ).split(" "),
);
/** Shown, but about the site and not about the page's subject. */
const NAVIGATION = new Set(["nav", "menu"]);

const HIDING_STYLE =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0*)?\s*(?:;|!|$)|font-size\s*:\s*(?:0(?:\.\d*)?(?:px|pt|%)?|0?(?:\.0\d*)?(?:em|rem))\s*(?:;|!|$)|transform\s*:\s*scale\(\s*0\s*\)|content-visibility\s*:\s*hidden|clip\s*:\s*rect\(\s*0|clip-path\s*:\s*inset\(\s*(?:50|100)%|text-indent\s*:\s*-\d{3,}|(?:left|top|right)\s*:\s*-(?:\d{3,}(?:px|vw|vh|%)|\d{2,}r?em))/i;
/** Together they leave no room for text. */
const NO_HEIGHT = /(?:^|;)\s*(?:max-)?(?:height|width)\s*:\s*0(?:px)?\s*(?:;|!|$)/i;
const NO_OVERFLOW = /(?:^|;)\s*overflow\s*:\s*(?:hidden|clip)/i;
const HIDING_CLASS =
  /(?:^|\s)(?:hidden|is-hidden|d-none|hide|sr-only|screen-reader-text|screen-reader-only|visually-?hidden|visuallyhidden|invisible|u-hidden|element-invisible|a11y-hidden|offscreen|print-only|noprint-hidden)(?=\s|$)/i;

/** `hidden md:block` and `d-none d-md-block`: hidden on narrow screens only. */
const SHOWN_ON_WIDE_SCREENS =
  /(?:^|\s)(?:(?:sm|md|lg|xl|2xl):|d-(?:sm|md|lg|xl|xxl)-)(?:block|flex|grid|inline|table|contents|visible|not-sr-only)/i;

export type Attributes = Readonly<Record<string, string>>;

/** By its element, its attributes and the usual names of classes. Style sheets are not read. */
export function isHidden(name: string, attributes: Attributes): boolean {
  if (name === "sup" && /\b(?:reference|footnote)/i.test(attributes["class"] ?? "")) return true;
  if (HIDDEN_ELEMENTS.has(name) || NAVIGATION.has(name) || attributes["role"] === "navigation") return true;
  if (attributes["hidden"] !== undefined || (name === "dialog" && attributes["open"] === undefined)) return true;
  const { style = "", class: classes = "" } = attributes;
  if (style.length + classes.length > MAX_STYLE_CHARACTERS) return true;
  const declarations = style.replaceAll(/\/\*[^*]*(?:\*(?!\/)[^*]*)*(?:\*\/|$)/g, "");
  if (HIDING_STYLE.test(declarations) || (NO_HEIGHT.test(declarations) && NO_OVERFLOW.test(declarations))) return true;
  return HIDING_CLASS.test(classes) && !SHOWN_ON_WIDE_SCREENS.test(classes);
}

/** No real page has a longer style; what cannot be judged in time counts as hidden. */
const MAX_STYLE_CHARACTERS = 10_000;
