/**
 * What a Gemini CLI call answered: the event lines of its stdout, read as they come, and its session record, the only
 * output that names the pages it really visited.
 */

import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { parseJson } from "../../platform/parse-json.ts";
import { readModelName, readTokenCount, type VisitedSource } from "../search-backend.ts";

export interface CliOutput {
  text: string;
  /** The CLI printed its result event, so the text is complete. */
  finished: boolean;
  /** The outcome reported by the CLI; undefined without a report. */
  succeeded: boolean | undefined;
  /** Upstream error texts: used to classify a failure, never shown. */
  errors: readonly string[];
  stats: CliStats | undefined;
}

interface CliStats {
  input: number;
  output: number;
  cached: number;
  /** Input, output, thoughts and tool use together. */
  total: number;
  /** No model was called at all. */
  idle: boolean;
  /** The model that wrote the answer: the one with the most output. */
  model: string | undefined;
}

interface OutputReader {
  push(text: string): void;
  finish(): CliOutput;
}

const eventLine = z.object({
  type: z.enum(["init", "message", "tool_use", "tool_result", "error", "result"]),
  role: z.string().optional().catch(undefined),
  content: z.string().optional().catch(undefined),
  tool_name: z.string().optional().catch(undefined),
  parameters: z.unknown().optional(),
  message: z.string().optional().catch(undefined),
  model: z.string().optional().catch(undefined),
  status: z.string().optional().catch(undefined),
  error: z.object({ message: z.string() }).optional().catch(undefined),
  stats: z.unknown().optional(),
});

type Event = z.infer<typeof eventLine>;

interface ReaderHooks {
  onActivity: (activity: string) => void;
  /** Receives the text so far. */
  onText?: ((text: string) => void) | undefined;
  /** Called after the CLI's result event; the process only has to exit. */
  onFinished: () => void;
}

export function createOutputReader(hooks: ReaderHooks): OutputReader {
  let pending = "";
  let newTurn = false;
  const output = { text: "", finished: false, succeeded: undefined as boolean | undefined };
  const errors: string[] = [];
  let stats: CliStats | undefined;
  let initModel = "";

  const appendText = (content: string): void => {
    // Text before and after a tool call belongs to separate paragraphs.
    if (newTurn && output.text !== "" && content !== "") output.text += "\n\n";
    newTurn = false;
    output.text += content;
    hooks.onText?.(output.text);
  };

  const onEvent = (event: Event): void => {
    // `auto` and the like are not model names but ways to choose a model.
    if (event.type === "init" && event.model?.startsWith("auto") === false) initModel = event.model;
    if (event.type === "message" && event.role === "assistant") appendText(event.content ?? "");
    if (event.type === "tool_use") {
      newTurn = true;
      const activity = describeToolCall(event.tool_name ?? "", event.parameters);
      if (activity !== undefined) hooks.onActivity(activity);
    }
    if (event.type === "error" && event.message !== undefined) errors.push(event.message);
    if (event.type === "result") {
      output.finished = true;
      output.succeeded = event.status !== "error";
      if (event.error !== undefined) errors.push(event.error.message);
      stats = readStats(event.stats, initModel);
      hooks.onFinished();
    }
  };

  const onLine = (line: string): void => {
    // This check is far cheaper than parsing, and most lines of a hostile output are not events.
    const parsed = line.startsWith("{") && line.includes('"type"') ? parseJson(line) : undefined;
    const event = parsed === undefined ? undefined : eventLine.safeParse(parsed).data;
    if (event !== undefined) onEvent(event);
  };

  return {
    push: (text) => {
      const lines = text.split("\n");
      const first = lines.shift() ?? "";
      const last = lines.pop();
      pending += first;
      if (last === undefined) return;
      onLine(pending);
      for (const line of lines) onLine(line);
      pending = last;
    },
    finish: () => {
      if (pending !== "") onLine(pending);
      pending = "";
      return { ...output, errors, stats };
    },
  };
}

/** A missing count is none, too: `z.unknown()` alone would reject the whole entry. */
const count = z
  .unknown()
  .optional()
  .transform((value) => readTokenCount(value) ?? 0);

const tokenCounts = z.object({ input_tokens: count, output_tokens: count, cached: count, total_tokens: count });
type TokenCounts = z.infer<typeof tokenCounts>;
const NONE: TokenCounts = { input_tokens: 0, output_tokens: 0, cached: 0, total_tokens: 0 };
const statistics = tokenCounts.extend({ models: z.record(z.string(), tokenCounts.catch(NONE)).optional() });

/** Versions up to 0.33 print totals without models; then the model is the one of the `init` event. */
function readStats(value: unknown, initModel: string): CliStats | undefined {
  const stats = statistics.safeParse(value).data;
  if (stats === undefined) return undefined;
  const models = Object.entries(stats.models ?? { [initModel]: stats });
  const sum = (part: keyof TokenCounts): number => models.reduce((total, [, tokens]) => total + tokens[part], 0);
  const [main] = models.toSorted(([, a], [, b]) => b.output_tokens - a.output_tokens);
  const counts = { input: sum("input_tokens"), output: sum("output_tokens"), total: sum("total_tokens") };
  return {
    ...counts,
    cached: sum("cached"),
    idle: counts.input + counts.output + counts.total === 0,
    model: readModelName(main?.[0]),
  };
}

export interface CliSession {
  /** The model's text, complete turns only. */
  text: string;
  lastTurn: string;
  /** The model of the last turn that names one. */
  model: string | undefined;
  sources: VisitedSource[];
  /** URLs of pages that the tools read for the model, not only found. */
  openedUrls: string[];
  queries: string[];
  /** Successful calls of the search tool. */
  searches: number;
  /** Tokens of pages read by tools; billed as input. */
  toolTokens: number;
}

const MAX_RECORD_BYTES = 32 * 1024 * 1024;
/** Per Firecrawl result. */
const MAX_FIRECRAWL_PAGES = 100;

const toolCall = z.object({
  id: z.string(),
  name: z.string(),
  args: z.unknown().optional(),
  status: z.string().catch(""),
  result: z.unknown().optional(),
});

const message = z.object({
  id: z.string(),
  type: z.string(),
  content: z.unknown().optional(),
  model: z.string().optional().catch(undefined),
  tokens: z.object({ tool: z.unknown().optional() }).optional().catch(undefined),
  toolCalls: z.array(z.unknown()).optional().catch(undefined),
});

type Message = z.infer<typeof message>;
type ToolCall = z.infer<typeof toolCall>;

/** Every record in `cliHome` belongs to this call, because each call has its own home. Never throws. */
export async function readSession(cliHome: string): Promise<CliSession> {
  const turns = new Map<string, Message>();
  const calls = new Map<string, ToolCall>();
  for (const record of await readRecords(join(cliHome, ".gemini", "tmp"))) {
    for (const turn of messagesIn(record)) {
      // The CLI writes a turn again whenever it grows; the last version counts.
      turns.set(turn.id, turn);
      for (const raw of turn.toolCalls ?? []) {
        const call = toolCall.safeParse(raw).data;
        if (call !== undefined) calls.set(call.id, call);
      }
    }
  }
  return sessionOf(
    [...turns.values()].filter(({ type }) => type === "gemini"),
    [...calls.values()],
  );
}

function sessionOf(turns: Message[], calls: ToolCall[]): CliSession {
  const done = calls.filter(({ status }) => status === "success");
  const sources = new Map<string, VisitedSource>();
  for (const source of done.flatMap(visitedSources)) {
    if (!sources.has(source.url)) sources.set(source.url, source);
  }
  const texts = turns.map(({ content }) => contentText(content)).filter((text) => text !== "");
  return {
    text: texts.join("\n\n"),
    lastTurn: texts.at(-1) ?? "",
    model: readModelName(turns.findLast(({ model }) => model !== undefined)?.model),
    sources: [...sources.values()],
    openedUrls: [...new Set(done.flatMap(openedUrls))],
    queries: [...new Set(calls.flatMap(({ name, args }) => readToolUse(name, args).queries))],
    searches: done.filter(({ name }) => isWebSearch(name)).length,
    toolTokens: turns.reduce((sum, { tokens }) => sum + (readTokenCount(tokens?.tool) ?? 0), 0),
  };
}

function visitedSources({ name, args, result }: ToolCall): VisitedSource[] {
  const output = toolOutput(result);
  const requested = readToolUse(name, args).urls.map((url) => ({ url, title: new URL(url).hostname }));
  if (isFirecrawl(name))
    return name.endsWith("_search") ? pagesIn(jsonInside(output)).slice(0, MAX_FIRECRAWL_PAGES) : requested;
  return isWebSearch(name) || name === "web_fetch" ? [...listedSources(output), ...requested] : [];
}

/**
 * A successful web_fetch of several URLs means that at least one of them was read, and its list of sources names the
 * pages that the text came from; a single URL needs no list. A Firecrawl search only finds pages.
 */
function openedUrls({ name, args, result }: ToolCall): string[] {
  const { urls } = readToolUse(name, args);
  if (isFirecrawl(name)) return name.endsWith("_search") ? [] : urls;
  if (name !== "web_fetch") return [];
  return urls.length === 1 ? urls : listedSources(toolOutput(result)).map(({ url }) => url);
}

/** The CLI ends a result with `Sources:` and lines of `[1] title (URL)`. */
function listedSources(output: string): VisitedSource[] {
  const start = output.lastIndexOf("\nSources:\n");
  if (start < 0) return [];
  return output
    .slice(start)
    .split("\n")
    .flatMap((line) => {
      const [, title, url] = /^\[\d+\] (.*) \((https?:\/\/\S+)\)$/.exec(line.trim()) ?? [];
      return title === undefined || url === undefined ? [] : [{ url, title }];
    });
}

const page = z.object({ url: z.string().regex(/^https?:\/\//i), title: z.string().catch("") });

/** The CLI puts tool results between tags. */
function jsonInside(output: string): unknown {
  const end = Math.max(output.lastIndexOf("}"), output.lastIndexOf("]"));
  return parseJson(output.slice(Math.max(0, output.search(/[[{]/)), end + 1));
}

/** Firecrawl results are JSON of several shapes; a page is an object with a URL. */
function pagesIn(value: unknown, depth = 0): VisitedSource[] {
  if (depth > 6 || typeof value !== "object" || value === null) return [];
  const own = page.safeParse(value).data;
  const inner = Object.values(value).flatMap((item) => pagesIn(item, depth + 1));
  return own === undefined || !URL.canParse(own.url)
    ? inner
    : [{ url: own.url, title: own.title || new URL(own.url).hostname }, ...inner];
}

const toolResult = z.array(
  z
    .object({ functionResponse: z.object({ response: z.object({ output: z.string() }) }) })
    .optional()
    .catch(undefined),
);

const toolOutput = (result: unknown): string =>
  (toolResult.safeParse(result).data ?? []).map((part) => part?.functionResponse.response.output ?? "").join("\n");

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = z.array(z.object({ text: z.string().catch("") }).catch({ text: "" })).safeParse(content).data ?? [];
  return parts.map(({ text }) => text).join("");
}

/** A record is a message, or an update that replaces all messages. */
function messagesIn(record: unknown): Message[] {
  const list = z.object({ $set: z.object({ messages: z.array(z.unknown()) }) }).safeParse(record).data;
  return [record, ...(list?.$set.messages ?? [])].flatMap((item) => {
    const parsed = message.safeParse(item).data;
    return parsed === undefined ? [] : [parsed];
  });
}

async function readRecords(folder: string): Promise<unknown[]> {
  const records: unknown[] = [];
  let remaining = MAX_RECORD_BYTES;
  for (const project of await readdir(folder).catch(() => [])) {
    const chats = join(folder, project, "chats");
    const names = await readdir(chats).catch(() => []);
    for (const name of names.filter((file) => /^session-.*\.jsonl$/.test(file)).toSorted()) {
      const text = await readStart(join(chats, name), remaining);
      remaining -= text.length;
      const lines = text.split("\n");
      records.push(...lines.map(parseJson).filter((record) => record !== undefined));
    }
  }
  return records;
}

async function readStart(file: string, bytes: number): Promise<string> {
  const handle = await open(file).catch(() => undefined);
  if (handle === undefined) return "";
  try {
    const { size } = await handle.stat();
    const buffer = Buffer.alloc(Math.min(size, bytes));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return "";
  } finally {
    await handle.close();
  }
}

interface ToolUse {
  queries: string[];
  urls: string[];
}

const parameters = z.object({
  query: z.string().optional().catch(undefined),
  prompt: z.string().optional().catch(undefined),
  url: z.string().optional().catch(undefined),
});

const MAX_ACTIVITY_CHARACTERS = 200;

function isWebSearch(tool: string): boolean {
  return tool === "google_web_search";
}

/** Firecrawl's tools have names like `mcp_firecrawl_firecrawl_scrape`. */
function isFirecrawl(tool: string): boolean {
  return tool.includes("firecrawl");
}

function readToolUse(tool: string, args: unknown): ToolUse {
  const { query, prompt, url } = parameters.safeParse(args).data ?? {};
  if (!isWebSearch(tool) && tool !== "web_fetch" && !isFirecrawl(tool)) return { queries: [], urls: [] };
  const fetched = tool === "web_fetch" ? webUrls(`${prompt ?? ""} ${url ?? ""}`) : webUrls(url ?? "");
  return { queries: query === undefined || query.trim() === "" ? [] : [query.trim()], urls: fetched };
}

/** A short description for display; undefined for other tools. */
function describeToolCall(tool: string, args: unknown): string | undefined {
  const { queries, urls } = readToolUse(tool, args);
  if (queries[0] !== undefined) return oneLine(`Searching: ${queries[0]}`);
  if (urls[0] !== undefined) return oneLine(`Reading: ${urls[0]}`);
  return undefined;
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, MAX_ACTIVITY_CHARACTERS);

function webUrls(text: string): string[] {
  const words = text.split(/[\s"'<>]+/).filter((word) => /^https?:\/\//i.test(word));
  return [...new Set(words.map(withoutTrailingPunctuation).filter((word) => URL.canParse(word)))];
}

/** Not a regular expression, which would take quadratic time on punctuation inside the word. */
function withoutTrailingPunctuation(word: string): string {
  let end = word.length;
  while (".,;:!?".includes(word.charAt(end - 1)) && end > 0) end -= 1;
  return word.slice(0, end);
}
