/** Reads the Gemini CLI's session record of a call, the only output that names the pages it really visited. */

import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { VisitedSource } from "../search-backend.ts";
import { parseJson } from "../parse-json.ts";
import { readModelName, readTokenCount } from "../token-count.ts";
import { isFirecrawl, isWebSearch, readToolUse } from "./tools.ts";

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
