/**
 * One scene: a simulated Gemini, a config directory and every front door to it, at a time that stands still until the
 * scene advances it. An MCP client of 2025 on stdio does the polling; one of 2026, the page and commands stand beside it.
 */

import type { Client as McpClient } from "@modelcontextprotocol/client";
import { isUtf8 } from "node:buffer";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, type TestContext, vi } from "vitest";
import type { ScenarioInput, TaskKind } from "../../simulator/scenario.ts";
import { openScene } from "../kit/server/scene.ts";
import { ROOT, type ToolResult } from "../kit/server/server.ts";
import { copyTemplate, sqlOn } from "../kit/store/databases.ts";
import { waitFor } from "../kit/wait-for.ts";
import { type Client, createDoors } from "./doors.ts";
import { createRecording } from "./recording.ts";
import { COURSE, REPORT, SOURCES } from "./report.ts";

export type Interactions = NonNullable<ScenarioInput["interactions"]>;
type Input = Record<string, unknown>;
type Answer = ToolResult["structured"];

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
/** A research takes eight minutes. */
export const DONE_AFTER = 9 * MINUTE;
const SECOND = 1_000;
const BEGIN = Date.UTC(2026, 9, 5, 9);

export const QUESTION = "How do heat pumps perform in cold climates?";

/** Every poll shows all steps so far; the stream, whose timing is its own, shows one event and then nothing. */
const LIFE: Interactions = {
  speed: 1,
  english: true,
  usage_after_ms: 0,
  poll_shows: "all",
  stream: [{ cut: "hang", cut_after: 1 }],
  course: COURSE,
  report: REPORT,
  sources: SOURCES,
};

const SETTINGS = {
  TZ: "UTC",
  LANG: "C.UTF-8",
  RESEARCH_SYNC_WINDOW_MS: "0",
  RESEARCH_POLL_INTERVAL_MS: "100",
  // Polls of one batch are 50 ms apart, so that they end in order.
  RESEARCH_MAX_RPS: "20",
  MCP_RATE_LIMIT_PER_MINUTE: "0",
  // A stand-in for notify-send writes what a desktop would show.
  DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere",
  GEMINI_SEARCH_FILE_ROOTS: join(ROOT, "test/golden"),
};

/** Tools, commands, routes and methods that begin or change a run. */
const ACTING = /^(?:search|ask|deep|start|research|followup|table|cancel|resume|retry|approve|plan$|tools\/call)/;

const NOTIFY_SEND = `#!/bin/sh\nprintf '%s\\n' "$@" >> "$HOME/notifications.txt"\n`;

export interface SceneOptions {
  interactions?: Interactions;
  tasks?: ScenarioInput["tasks"];
  env?: Record<string, string>;
  /** Nothing but the given settings: without a key, without a database. */
  isBare?: boolean;
}

/** By the name of the file. */
export type Scenes = Readonly<Record<string, SceneOptions & { play: (world: World) => Promise<void> }>>;

export type World = Awaited<ReturnType<typeof openWorld>>;

export async function openWorld(
  context: TestContext,
  { interactions, tasks = {}, env = {}, isBare }: SceneOptions = {},
) {
  vi.useFakeTimers({ toFake: ["Date"], now: BEGIN });
  context.onTestFinished(() => void vi.useRealTimers());
  const play = (next: Interactions = {}): ScenarioInput => ({
    name: "golden",
    tasks,
    interactions: { ...LIFE, ...next },
  });
  const scene = await openScene(context, play(interactions));
  const { gemini, configDir } = scene;
  if (isBare !== true) copyTemplate(configDir);
  const clockFile = join(configDir, "clock");
  writeFileSync(clockFile, String(BEGIN));
  mkdirSync(join(configDir, "bin"));
  writeFileSync(join(configDir, "bin/notify-send"), NOTIFY_SEND);
  chmodSync(join(configDir, "bin/notify-send"), 0o755);
  const common: Record<string, string> = {
    ...scene.env,
    ...SETTINGS,
    PATH: `${join(configDir, "bin")}:${process.env["PATH"] ?? ""}`,
    GOLDEN_CLOCK_FILE: clockFile,
    NODE_OPTIONS: `--import=${join(import.meta.dirname, "preload.ts")}`,
    RESEARCH_REPORTS_DIR: join(configDir, "reports"),
    ...env,
  };
  if (isBare === true) common["GEMINI_API_KEY"] = "";
  const recording = createRecording();
  recording.name(configDir, "<config>");
  const { add } = recording;
  const doors = createDoors({ context, scene, env: common });

  // It polls for all others.
  if (isBare !== true) await doors.client("2025");

  const sql = <Row>(statement: string, ...values: string[]): Row[] =>
    sqlOn<Row>({ file: join(configDir, "deep_research.db"), url: undefined }, statement, values);

  /**
   * Waits until every run that was due has been polled at this time, and every notification was sent. A further poll at
   * the same time would find the same, and may have to wait for the rate limit, which needs time to pass.
   */
  const settle = (): Promise<void> =>
    waitFor(
      () => {
        const due = sql<{ interaction_id: string; lease_until: number | null }>(
          `select interaction_id, lease_until from research_tasks
           where interaction_id is not null and (lease_until is not null or next_poll_at <= ${Date.now()})`,
        );
        const isPolled = (id: string): boolean => gemini.ledger.trafficOf(id).polls.includes(Date.now());
        const open = due.filter((run) => run.lease_until !== null || !isPolled(run.interaction_id));
        expect([...open, ...sql("select * from notification_outbox where sent_at is null")]).toEqual([]);
      },
      { interval: 20 },
    );

  /** Lets time pass, at Google first, and waits until the server has noticed. */
  const pass = async (ms: number, until: () => Promise<unknown> = settle): Promise<void> => {
    vi.setSystemTime(Date.now() + ms);
    gemini.skip(0);
    writeFileSync(clockFile, String(Date.now()));
    await until();
  };

  /** No two runs begin at the same time, and the rate limit of polls needs time to pass after a start. */
  const afterActing = async (name: string): Promise<void> => {
    if (ACTING.test(name)) await pass(SECOND, isBare === true ? async () => undefined : settle);
  };

  const call = async (tool: string, input: Input = {}, client: Client = "2025"): Promise<Answer> => {
    const connected = await doors.client(client);
    const { received, end } = listen(connected.client);
    const { isError, structuredContent, content } = await connected.client.callTool(
      { name: tool, arguments: input },
      // Without it no progress is sent.
      { timeout: 60_000, onprogress: () => {} },
    );
    end();
    const progress = received.flatMap(({ method, params }) =>
      method === "notifications/progress" ? String(params?.["message"] ?? "") : [],
    );
    const title = `${client} ${tool} ${JSON.stringify(input)}`;
    const shown = progress.filter((message) => !message.startsWith("Working ("));
    add(title, {
      ...(isError === true && { isError }),
      structuredContent,
      ...(shown.length > 0 && { progress: shown }),
    });
    for (const part of content) add(`${title}: ${part.type}`, part.type === "text" ? part.text : part);
    await afterActing(tool);
    return structuredContent as Answer;
  };

  return {
    scene,
    add,
    sql,
    call,
    settle,
    ...doors,
    play: (next: Interactions) => gemini.setScenario(play(next)),
    setTasks: (next: ScenarioInput["tasks"]) => gemini.setScenario({ ...play(), tasks: next }),
    pass,
    newest: (): string =>
      sql<{ task_id: string }>("select task_id from research_tasks order by created_at desc, rowid desc limit 1")[0]
        ?.task_id ?? "",
    ended: (taskId: string): Promise<void> =>
      waitFor(() => {
        const open = "part = 'plan' and status = 'completed'";
        const ended = `select 1 from research_tasks where task_id = ? and completed_at is not null and not (${open})`;
        expect(sql(ended, taskId)).toHaveLength(1);
      }),
    /** Waits until the newest server on stdio has logged this. */
    logged: (text: string): Promise<void> =>
      waitFor(async () => expect((await doors.logs()).at(-2)?.[1]).toContain(text)),
    /** Waits until the progress stream has brought this many events. */
    streamed: (count: number): Promise<void> =>
      waitFor(() => expect(sql("select 1 from research_events")).toHaveLength(count)),
    /** Waits until the simulator has seen this many requests of a task. */
    reached: (kind: TaskKind, count = 1): Promise<void> =>
      waitFor(() => expect(gemini.ledger.count(kind)).toBe(count), { interval: 20 }),
    /** Calls a tool in both eras; only for calls that may be repeated. */
    callBoth: async (tool: string, input: Input = {}): Promise<void> => {
      for (const client of ["2025", "2026"] as const) await call(tool, input, client);
    },
    raw: async (client: Client, method: string, params: Input = {}): Promise<void> => {
      const {
        tasks: { raw },
      } = await doors.client(client);
      add(`${client} ${method} ${JSON.stringify(params)}`, await raw(method, params));
      await afterActing(method);
    },
    command: async (...args: string[]): Promise<void> => {
      const { code, stdout, stderr } = await doors.piped(args);
      add(`$ ${args.join(" ")} | cat`, `${stdout}${stderr === "" ? "" : `--- stderr\n${stderr}`}--- exit ${code}`);
      await afterActing(args[0] ?? "");
    },
    terminal: async (...args: string[]): Promise<void> => {
      add(`$ ${args.join(" ")}`, await doors.typed(args));
      await afterActing(args[0] ?? "");
    },
    get: async (path: string): Promise<void> => {
      const response = await (await doors.server()).request(path);
      add(`GET ${path}`, await bodyOf(response));
    },
    post: async (path: string, body: Input): Promise<Answer> => {
      const headers = { "content-type": "application/json" };
      const response = await (
        await doors.server()
      ).request(path, { method: "POST", headers, body: JSON.stringify(body) });
      const answer = await bodyOf(response);
      add(`POST ${path} ${JSON.stringify(body)}`, answer);
      await afterActing(path.split("/").at(-1) ?? "");
      return typeof answer.body === "string" ? {} : answer.body;
    },
    /** Ends the processes and returns the scene with files, notifications, Google's ledger and the log. */
    finish: async (): Promise<string> => {
      await doors.close();
      for (const file of filesIn(join(configDir, "reports"))) {
        const content = readFileSync(file);
        add(`file ${file}`, isUtf8(content) ? content.toString() : `${content.length} bytes`);
      }
      const shown = join(configDir, "notifications.txt");
      if (existsSync(shown)) add("notifications", readFileSync(shown, "utf8"));
      add(
        "requests at Google",
        gemini.ledger
          .entries()
          .filter(({ method }) => method !== "GET")
          .map(({ method, path, served }) => `${method} ${path} ${served}`)
          .join("\n"),
      );
      for (const [title, logged] of await doors.logs()) {
        const log = logged.replaceAll(SWEEP_FAILED, "");
        if (log !== "") add(title, log);
      }
      const runs = isBare === true ? [] : sql<{ task_id: string }>("select task_id from research_tasks");
      return recording.text(runs.map(({ task_id }) => task_id));
    },
  };
}

interface Message {
  method?: string;
  params?: Record<string, unknown>;
}

/** What a client receives: it drops the progress of a call whose response is in the same chunk. */
function listen({ transport }: McpClient): { received: Message[]; end: () => void } {
  const received: Message[] = [];
  if (transport === undefined) return { received, end: () => {} };
  const { onmessage } = transport;
  const receive: typeof onmessage = (message, extra) => {
    received.push(message as Message);
    onmessage?.(message, extra);
  };
  Object.assign(transport, { onmessage: receive });
  return { received, end: () => void Object.assign(transport, { onmessage }) };
}

/** Logged by the sweep, at whatever time of the scene its next round begins; a scene waits for it with `logged`. */
const SWEEP_FAILED = /^\[WARN\] Polling runs failed and is tried again: .*\n/gm;

const filesIn = (directory: string): string[] =>
  (existsSync(directory) ? readdirSync(directory, { recursive: true, withFileTypes: true }) : [])
    .flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []))
    .toSorted();

interface PageAnswer {
  status: number;
  type: string | null;
  body: Answer | string;
}

async function bodyOf(response: Response): Promise<PageAnswer> {
  const type = response.headers.get("content-type");
  const isJson = type?.startsWith("application/json") === true;
  return { status: response.status, type, body: isJson ? ((await response.json()) as Answer) : await response.text() };
}
