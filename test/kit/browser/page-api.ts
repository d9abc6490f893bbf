/**
 * The dashboard's HTTP API on a `serve` with a simulated agent: requests as the page sends them, and the live stream.
 */

import type { TestContext } from "vitest";
import type { LiveEvents } from "../../../src/web/wire.ts";
import { type HttpServerOptions, type RunningHttpServer, startHttpServer } from "../server/http-server.ts";
import { browserHeaders, type BrowserHeaders } from "./page-session.ts";
import { type Interactions, openResearch, type ResearchScene } from "../server/research.ts";
import { waitFor } from "../wait-for.ts";

export interface PageAnswer {
  status: number;
  headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers of every shape
  body: any;
}

export interface PageServer extends RunningHttpServer {
  get: (path: string, token?: string) => Promise<PageAnswer>;
  post: (path: string, body: unknown, token?: string) => Promise<PageAnswer>;
  /** Sends a request as a signed-in browser. */
  browse: (path: string, headers?: Record<string, string>) => Promise<PageAnswer>;
  live: (path?: string, headers?: Record<string, string>) => Promise<LiveStream>;
}

export interface PageScene extends ResearchScene {
  serve: (env?: Record<string, string>) => Promise<PageServer>;
  /** Adds a token of another user on the same server. */
  tokenOf: (name: string) => Promise<string>;
}

export async function openPageServer(
  context: Pick<TestContext, "onTestFinished">,
  interactions: Interactions = {},
): Promise<PageScene> {
  const scene = await openResearch(context, interactions);
  return {
    ...scene,
    serve: async (env = {}) => {
      const options: HttpServerOptions = {
        env: { ...scene.env, MCP_RATE_LIMIT_PER_MINUTE: "0", ...env },
        configDir: scene.configDir,
      };
      const server = await startHttpServer(options);
      context.onTestFinished(() => server.close());
      return asPage(server);
    },
    tokenOf: async (name) => (await scene.command(["token", "add", name])).stdout.trim(),
  };
}

async function answerOf(response: Response): Promise<PageAnswer> {
  const { status, headers } = response;
  const isJson = headers.get("content-type")?.startsWith("application/json") === true;
  return { status, headers, body: isJson ? await response.json() : await response.text() };
}

function asPage(server: RunningHttpServer): PageServer {
  const ask = async (path: string, init: RequestInit): Promise<PageAnswer> =>
    answerOf(await server.request(path, init));
  let session: BrowserHeaders | undefined;
  const signIn = async (): Promise<BrowserHeaders> => {
    const { path } = (await ask("/api/links", { method: "POST" })).body;
    const entered = await fetch(`${server.url}${path}`, { redirect: "manual" });
    return browserHeaders({ body: await entered.text(), setCookie: entered.headers.get("set-cookie") ?? "" });
  };
  const as = (token = server.token): Record<string, string> => ({ authorization: `Bearer ${token}` });
  return {
    ...server,
    get: (path, token) => ask(path, { headers: as(token) }),
    browse: async (path, headers = {}) => {
      session ??= await signIn();
      return answerOf(await fetch(`${server.url}${path}`, { headers: { ...session, ...headers } }));
    },
    post: (path, body, token) =>
      ask(path, {
        method: "POST",
        headers: { ...as(token), "content-type": "application/json" },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    live: (path = "/api/live", headers = {}) => openLive(server, path, headers),
  };
}

interface LiveEvent {
  name: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- one of LiveEvents, which the test knows
  data: any;
  id: string | undefined;
}

export interface LiveStream {
  status: number;
  /** The events received so far. */
  events: LiveEvent[];
  named: (name: keyof LiveEvents) => LiveEvent[];
  /** The received bytes, unparsed. */
  text: () => string;
  until: (holds: () => unknown) => Promise<void>;
  /** Closes the connection, as a browser that is closed or loses its network. */
  cut: () => void;
  /** Resolves when the server has closed the stream. */
  ended: Promise<void>;
}

async function openLive(server: RunningHttpServer, path: string, headers: Record<string, string>): Promise<LiveStream> {
  const controller = new AbortController();
  const response = await server.request(path, { signal: controller.signal, headers });
  const events: LiveEvent[] = [];
  let text = "";
  const read = async (): Promise<void> => {
    let rest = "";
    for await (const piece of (response.body ?? new ReadableStream<Uint8Array>()).pipeThrough(
      new TextDecoderStream(),
    )) {
      text += piece;
      const blocks = `${rest}${piece}`.split("\n\n");
      rest = blocks.pop() ?? "";
      events.push(...blocks.flatMap(eventOf));
    }
  };
  return {
    status: response.status,
    events,
    named: (name) => events.filter((event) => event.name === name),
    text: () => text,
    until: (holds) =>
      waitFor(
        () => {
          if (!holds()) throw new Error(`Not received so far:\n${text.slice(-2_000)}`);
        },
        { timeout: 40_000, interval: 20 },
      ),
    cut: () => controller.abort(),
    ended: read().catch(() => undefined),
  };
}

function eventOf(block: string): LiveEvent[] {
  const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
  const [name, data] = [field("event"), field("data")];
  return name === undefined ? [] : [{ name, data: JSON.parse(data ?? "null"), id: field("id") }];
}

/** Waits until the run has ended and returns it. */
export const untilEnded = (server: PageServer, taskId: string): Promise<PageAnswer["body"]> =>
  waitFor(
    async () => {
      const { body } = await server.get(`/api/runs/${taskId}`);
      if (!["completed", "failed", "cancelled"].includes(body.status)) throw new Error(`It is ${body.status}.`);
      return body;
    },
    { timeout: 20_000, interval: 25 },
  );
