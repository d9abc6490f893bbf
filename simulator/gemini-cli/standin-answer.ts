/** The stand-in's answer: on stdout as the real Gemini CLI prints it, and in its session record. */

import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

/** Behaviour of one call; by default a good answer. */
export interface StandinBehaviour {
  /** Only for prompts that match this regular expression; the first matching entry of `calls` wins. */
  prompt?: string;
  /** The answer text. */
  text?: string;
  model?: string;
  /** Totals without models, and the model in the first line: `flat` as in versions up to 0.33, `uncached` up to 0.20. */
  stats?: "by model" | "flat" | "uncached" | Record<string, unknown>;
  searches?: { query: string; sources: { title: string; url: string }[] }[];
  /** Pages that it opens with web_fetch, one call each. */
  fetches?: string[];
  sleepMs?: number;
  /** Never answers. */
  hang?: boolean;
  /** Never exits after its answer. */
  hangAfterAnswer?: boolean;
  ignoreSigterm?: boolean;
  /** A grandchild that sleeps this long and keeps our stdout open. */
  forkMs?: number;
  /** The grandchild leaves our process group and session, as a daemon does. */
  forkDaemon?: boolean;
  printBytes?: number;
  /** Splits multi-byte characters across writes. */
  splitCharacters?: boolean;
  /** No answer at all. */
  silent?: boolean;
  /** The answer without its `result` line. */
  noResult?: boolean;
  /** Text on stdout before the answer that is not recorded, as after a broken stream. */
  falseStart?: string;
  /** The answer is only in the session record, as if the pipe had lost it. */
  onlyInSession?: boolean;
  closeStdout?: boolean;
  ignoreStdin?: boolean;
  stderr?: string;
  exitCode?: number;
  /** Names of files to leave in the temporary and the working directory. */
  litter?: string[];
}

const GOOD_ANSWER = `\`\`\`json
${JSON.stringify({
  success: true,
  verified: true,
  report: "# Stand-in report\n\nWritten by the stand-in for the Gemini CLI.",
  metadata: { sources_visited: ["https://example.com/"], search_queries_used: ["stand-in"] },
})}
\`\`\``;

export async function answer(behaviour: StandinBehaviour, prompt: string): Promise<void> {
  const text = behaviour.text ?? GOOD_ANSWER;
  const model = behaviour.model ?? "standin-model";
  const searches = behaviour.searches ?? [];
  const sessionId = randomUUID();
  if (process.env["GEMINI_CLI_HOME"] !== undefined) {
    writeSession({ sessionId, prompt, text, model, searches, fetches: behaviour.fetches ?? [] });
  }
  if (behaviour.onlyInSession) return;
  const uncached = { total_tokens: 130, input_tokens: 100, output_tokens: 20 };
  const flat = behaviour.stats === "uncached" ? uncached : { ...uncached, cached: 5, input: 95 };
  const isFlat = behaviour.stats === "flat" || behaviour.stats === "uncached";
  const events: object[] = [
    { type: "init", session_id: sessionId, model: isFlat ? model : "auto" },
    { type: "message", role: "user", content: prompt },
    ...searches.flatMap(({ query }, index) => [
      { type: "tool_use", tool_name: "google_web_search", tool_id: `search-${index}`, parameters: { query } },
      {
        type: "tool_result",
        tool_id: `search-${index}`,
        status: "success",
        output: `Search results for "${query}" returned.`,
      },
    ]),
    ...(behaviour.falseStart === undefined ? [] : [assistantMessage(behaviour.falseStart)]),
    assistantMessage(text),
  ];
  if (!behaviour.noResult)
    events.push({
      type: "result",
      status: "success",
      stats: statsOf(behaviour, { ...flat, tool_calls: searches.length }, { [model]: flat }),
    });
  const timestamp = new Date().toISOString();
  return write(events.map((event) => `${JSON.stringify({ timestamp, ...event })}\n`).join(""), behaviour);
}

function statsOf({ stats }: StandinBehaviour, totals: object, models: object): object {
  if (typeof stats === "object") return stats;
  return stats === "flat" || stats === "uncached" ? totals : { ...totals, models };
}

const assistantMessage = (content: string): object => ({ type: "message", role: "assistant", content, delta: true });

interface Session {
  sessionId: string;
  prompt: string;
  text: string;
  model: string;
  searches: NonNullable<StandinBehaviour["searches"]>;
  fetches: string[];
}

/** In the format of version 0.61. */
function writeSession({ sessionId, prompt, text, model, searches, fetches }: Session): void {
  const folder = join(process.env["GEMINI_CLI_HOME"] ?? ".", ".gemini", "tmp", "work", "chats");
  mkdirSync(folder, { recursive: true });
  const timestamp = new Date().toISOString();
  const opened = fetches.map((url, index) => {
    const id = `fetch-${index}`;
    const result = [{ functionResponse: { id, name: "web_fetch", response: { output: "The text of the page." } } }];
    return { id, name: "web_fetch", args: { prompt: `Quote what ${url} says.` }, result, status: "success", timestamp };
  });
  const searched = searches.map(({ query, sources }, index) => {
    const lines = sources.map(({ title, url }, at) => `[${at + 1}] ${title} (${url})`);
    const output = `Web search results for "${query}":\n\nFound.\n\nSources:\n${lines.join("\n")}`;
    const id = `search-${index}`;
    const result = [{ functionResponse: { id, name: "google_web_search", response: { output } } }];
    return { id, name: "google_web_search", args: { query }, result, status: "success", timestamp };
  });
  const toolCalls = [...searched, ...opened];
  const turn = (content: string): object => ({
    id: randomUUID(),
    timestamp,
    type: "gemini",
    content,
    thoughts: [],
    model,
  });
  const lines = [
    { sessionId, projectHash: "standin", startTime: timestamp, kind: "main" },
    { id: randomUUID(), timestamp, type: "user", content: [{ text: prompt }] },
    ...(toolCalls.length === 0 ? [] : [{ ...turn(""), toolCalls }]),
    turn(text),
  ];
  const name = `session-${timestamp.slice(0, 16).replaceAll(":", "-")}-${sessionId.slice(0, 8)}.jsonl`;
  writeFileSync(join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

async function write(text: string, { splitCharacters }: StandinBehaviour): Promise<void> {
  const bytes = Buffer.from(text);
  if (!splitCharacters) return flush(bytes);
  let start = 0;
  for (let end = 1; end <= bytes.length; end += 1) {
    // Splits before every continuation byte.
    if (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) !== 0x80) continue;
    await flush(bytes.subarray(start, end));
    await sleep(5);
    start = end;
  }
}

export function flush(bytes: Buffer): Promise<void> {
  return new Promise((resolve) => process.stdout.write(bytes, () => resolve()));
}
