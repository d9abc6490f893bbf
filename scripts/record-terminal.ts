/**
 * Records the command line: the built program against the simulator, in a terminal of a fixed size. Writes
 * docs/terminal.md (screens as text, each with its command) and docs/terminal.cast (asciinema v2).
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startSimulator } from "../simulator/server.ts";
import { ensureSystemPackages } from "./system-packages.ts";
import { openTerminal, type Terminal } from "./tmux.ts";

const ROOT = resolve(import.meta.dirname, "..");
const SIZE = { columns: 80, rows: 30 };
const WORDS = "how do heat pumps perform in cold climates";
/** Replaced, because it differs between recordings. */
const TASK_ID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/;
const SHOWN_ID = "3f2a9c1e-5b7d-4e2a-9c1e-8d4f6a2b7c90";
/** Only the beginning of a report is shown. */
const MAX_SCREEN_LINES = 40;

interface Step {
  title: string;
  command: string;
  /** Takes the screen when it matches; without it, at the end of the command. */
  during?: RegExp;
}

const STEPS: Step[] = [
  { title: "Checking the installation", command: "gemini-search-mcp doctor --offline" },
  { title: "Estimating the cost", command: `gemini-search-mcp estimate ${WORDS}` },
  { title: "A quick answer", command: `gemini-search-mcp search ${WORDS}` },
  {
    title: "Starting Deep Research and watching it",
    command: `gemini-search-mcp research ${WORDS}`,
    during: /[3-6]\d % \(estimate\)/,
  },
  { title: "Listing earlier runs", command: "gemini-search-mcp list" },
  { title: "Finding a run by words", command: "gemini-search-mcp list cold climates" },
  { title: "Reading a report by its short id", command: "gemini-search-mcp show 3f2a9c1e --section outline" },
  { title: "Usage by month", command: "gemini-search-mcp costs" },
  { title: "Completing commands and ids with Tab", command: 'eval "$(gemini-search-mcp completion bash)"' },
];

interface Frame {
  at: number;
  text: string;
}

/** Records a complete frame whenever the screen has changed, for an asciinema player. */
function recordFrames(terminal: Terminal): { frames: Frame[]; stop(): Promise<void> } {
  const frames: Frame[] = [];
  const startedAt = performance.now();
  const stopping = new AbortController();
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      const text = (await terminal.screen({ colors: true })).join("\r\n");
      if (text !== frames.at(-1)?.text) frames.push({ at: (performance.now() - startedAt) / 1_000, text });
      await sleep(100);
    }
  })();
  return {
    frames,
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
}

async function until(terminal: Terminal, pattern: RegExp): Promise<string[]> {
  for (let tries = 0; tries < 300; tries += 1) {
    const screen = await terminal.screen();
    if (screen.some((line) => pattern.test(line))) return screen;
    await sleep(100);
  }
  throw new Error(`The terminal never showed ${String(pattern)}:\n${(await terminal.screen()).join("\n")}`);
}

interface Session {
  terminal: Terminal;
  /** The number of prompts that the shell has printed. */
  prompts: () => number;
  real: (text: string) => string;
}

async function record({ terminal, prompts, real }: Session, { command, during }: Step): Promise<string[]> {
  const finished = async (line: string): Promise<string[]> => {
    const before = prompts();
    await terminal.type(line);
    while (prompts() === before) await sleep(50);
    // The prompt is printed right after it is counted.
    return until(terminal, /^\$$/);
  };
  await terminal.resize(SIZE.columns, during === undefined ? SIZE.rows * 2 : SIZE.rows);
  await finished("clear");
  const ending = finished(real(command));
  const seen = during === undefined ? undefined : await until(terminal, during);
  const ended = await ending;
  const typed = ended.findIndex((line) => line.startsWith("$ "));
  return seen ?? ended.slice(typed + Math.ceil((command.length + 2) / SIZE.columns)).filter((line) => line !== "$");
}

async function main(): Promise<void> {
  if ((await ensureSystemPackages(["tmux"], { commands: ["tmux"] })) === "missing") throw new Error("Install tmux.");
  const simulator = await startSimulator({ scenario: { name: "recording", interactions: { speed: 40 } } });
  const folder = mkdtempSync(join(tmpdir(), "gemini-search-recording-"));
  const terminal = await openTerminal({
    ...SIZE,
    // Tall enough for a report.
    rows: SIZE.rows * 2,
    env: {
      PATH: `/usr/bin:/bin`,
      PAGER: "cat",
      HOME: folder,
      GEMINI_SEARCH_CONFIG_DIR: join(folder, "config"),
      GEMINI_API_KEY: "key-of-the-simulator",
      GOOGLE_GEMINI_BASE_URL: simulator.url,
      SEARCH_BACKEND: "api",
      RESEARCH_SYNC_WINDOW_MS: "0",
      RESEARCH_POLL_INTERVAL_MS: "1000",
    },
    setup: `gemini-search-mcp() { '${process.execPath}' '${join(ROOT, "bin/gemini-search-mcp.js")}' "$@"; }\ncd '${folder}'\nPROMPT_COMMAND='echo >> "$HOME/prompts"'`,
  });
  const recording = recordFrames(terminal);
  let taskId = SHOWN_ID;
  const neutral = (text: string): string =>
    text
      .replaceAll(taskId, SHOWN_ID)
      .replaceAll(taskId.slice(0, 8), SHOWN_ID.slice(0, 8))
      .replaceAll(join(folder, "config"), "~/.config/gemini-search-mcp")
      .replaceAll(folder, "~")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "2026-11-15T12:00:00.000Z")
      .replaceAll(/[\d,]+ MB free/g, "50,000 MB free");
  const prompts = (): number => readFileSync(join(folder, "prompts"), { encoding: "utf8", flag: "a+" }).length;
  const pages: string[] = [];
  try {
    for (const step of STEPS) {
      const real = (text: string): string => text.replaceAll(SHOWN_ID.slice(0, 8), taskId.slice(0, 8));
      const lines = await record({ terminal, prompts, real }, step);
      if (step.during !== undefined) taskId = await newestId(terminal);
      pages.push(page(step, lines.map(neutral)));
    }
  } finally {
    await recording.stop();
    await terminal.close();
    await simulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
  writeFileSync(join(ROOT, "docs/terminal.md"), `${OPENING}\n${pages.join("\n")}`);
  writeFileSync(
    join(ROOT, "docs/terminal.cast"),
    cast(recording.frames.map(({ at, text }) => ({ at, text: neutral(text) }))),
  );
}

/** The list shows short ids; this returns the full one. */
async function newestId(terminal: Terminal): Promise<string> {
  await terminal.type("clear; gemini-search-mcp list | cut -f1");
  const seen = await until(terminal, TASK_ID);
  return TASK_ID.exec(seen.join("\n"))?.[0] ?? SHOWN_ID;
}

const OPENING = `# At the terminal

Recorded with \`npx node scripts/record-terminal.ts\`, the built program and the built-in simulator, in a window of 80
columns; the answers are invented. Watch the recording with \`asciinema play docs/terminal.cast\`. All commands are in
[commands.md](commands.md).
`;

function page({ title, command }: Step, lines: string[]): string {
  const shown = lines.join("\n").trimEnd().split("\n");
  const cut = shown.length > MAX_SCREEN_LINES ? [...shown.slice(0, MAX_SCREEN_LINES), "…"] : shown;
  return `## ${title}\n\n\`\`\`text\n$ ${command}\n${cut.join("\n")}\n\`\`\`\n`;
}

function cast(frames: Frame[]): string {
  const header = { version: 2, width: SIZE.columns, height: SIZE.rows * 2, title: "gemini-search-mcp" };
  const events = frames.map(({ at, text }) => [Number(at.toFixed(1)), "o", `\u001B[H\u001B[2J${text}`]);
  return `${[header, ...events].map((line) => JSON.stringify(line)).join("\n")}\n`;
}

await main();
