/**
 * The connection to the chat client that contains the card: JSON-RPC over postMessage, as the MCP Apps specification
 * of 2026-01-26 defines it, and the calls of server tools through it.
 */

import type { Refused, ReportForms, RunCardAnswer } from "../../wire.ts";
import { RefusedError } from "../app/request.ts";

const PROTOCOL_VERSION = "2026-01-26";

export type DisplayMode = "inline" | "fullscreen" | "pip";

export interface HostContext {
  theme?: "light" | "dark";
  displayMode?: DisplayMode;
  availableDisplayModes?: DisplayMode[];
  styles?: { variables?: Record<string, string | undefined> };
  safeAreaInsets?: { top: number; right: number; bottom: number; left: number };
}

interface HostCapabilities {
  openLinks?: object;
  downloadFile?: object;
  serverTools?: object;
  updateModelContext?: object;
  message?: object;
}

export interface ToolAnswer {
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
}

export interface HostEvents {
  onInput: (input: Record<string, unknown>) => void;
  onResult: (answer: ToolAnswer) => void;
  onCancelled: () => void;
  onContext: (context: HostContext) => void;
  /** The client removes the card. */
  onTeardown: () => void;
}

export interface Host {
  capabilities: HostCapabilities;
  request: (method: string, params: object) => Promise<Record<string, unknown>>;
  notify: (method: string, params: object) => void;
  viewRun: (input: object) => Promise<RunCardAnswer>;
  viewReport: <Form extends keyof ReportForms>(taskId: string, form: Form, n?: number) => Promise<ReportForms[Form]>;
  cancel: (taskId: string) => Promise<unknown>;
}

/** Longer than any answer of the server takes, so that a client that lost a request does not block the card for good. */
const TIMEOUT_MS = 90_000;

type Settle = (message: { result?: unknown }) => void;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

export async function connectHost(version: string, events: HostEvents): Promise<Host> {
  const pending = new Map<number, Settle>();
  // The origin differs from client to client.
  const send = (message: object): void => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  addEventListener("message", ({ source, data }: MessageEvent<unknown>) => {
    // Only messages of the window that contains the card are read.
    if (source !== parent || !isObject(data) || data["jsonrpc"] !== "2.0") return;
    const { id, method, params } = data;
    if (typeof method !== "string") pending.get(Number(id))?.(data);
    else if (id === undefined) notified(method, isObject(params) ? params : {}, events);
    else if (method === "ping" || method === "ui/resource-teardown") {
      if (method === "ui/resource-teardown") events.onTeardown();
      send({ id, result: {} });
    } else send({ id, error: { code: -32_601, message: "Method not found" } });
  });
  let last = 0;
  const request: Host["request"] = (method, params) =>
    new Promise((resolve, reject) => {
      const id = (last += 1);
      const timer = setTimeout(() => settle({}), TIMEOUT_MS);
      const settle: Settle = ({ result }) => {
        clearTimeout(timer);
        pending.delete(id);
        if (isObject(result)) resolve(result);
        else reject(new Error("The client refused the request."));
      };
      pending.set(id, settle);
      send({ id, method, params });
    });
  const welcome = await request("ui/initialize", {
    appInfo: { name: "gemini-search-mcp", version },
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
    protocolVersion: PROTOCOL_VERSION,
  });
  const { hostCapabilities, hostContext } = welcome;
  if (isObject(hostContext)) events.onContext(hostContext);
  send({ method: "ui/notifications/initialized", params: {} });
  return {
    capabilities: isObject(hostCapabilities) ? hostCapabilities : {},
    request,
    notify: (method, params) => send({ method, params }),
    viewRun: (input) => callTool(request, "view_run", input),
    viewReport: (taskId, form, n = 0) => callTool(request, "view_report", { task_id: taskId, form, n }),
    cancel: (taskId) => callTool(request, "cancel_research", { task_id: taskId }),
  };
}

const UNREACHABLE: Refused = {
  success: false,
  error: {
    code: "SERVER_AWAY",
    message: "The run can't be read at the moment.",
    suggestion: "It continues; this card tries again.",
  },
};

async function callTool<Answer>(request: Host["request"], name: string, input: object): Promise<Answer> {
  const answer = await request("tools/call", { name, arguments: input }).catch(() => undefined);
  const structured = answer?.["structuredContent"];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wire.ts is the contract of both sides
  if (answer?.["isError"] !== true && structured !== undefined) return structured as Answer;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one error shape of the server
  const refused = structured as Refused | undefined;
  if (refused === undefined) throw new RefusedError(UNREACHABLE);
  const { suggestion: _names, ...error } = refused.error;
  // A suggestion of a tool names other tools; the card has its own button, and asks again by itself.
  throw new RefusedError({ ...refused, error });
}

const PATH = /^\/api\/runs\/([^/]+)\/(report|report\/parts|pictures)(?:\/(\d+))?$/;

/** Answers the requests of the page's components, which have paths, by calls of tools. */
export async function fetchAsPage({ viewReport }: Pick<Host, "viewReport">, path: string): Promise<Response> {
  const [, taskId, what, n] = PATH.exec(path) ?? [];
  if (taskId === undefined) return new Response(null, { status: 404 });
  if (what === "pictures") {
    const { data, mime_type: type } = await viewReport(taskId, "picture", Number(n));
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    return new Response(new Blob([bytes], { type }));
  }
  const answer = await viewReport(taskId, "html", Number(n ?? 0));
  return Response.json(what === "report" ? answer.report : answer);
}

function notified(method: string, params: Record<string, unknown>, events: HostEvents): void {
  if (method === "ui/notifications/tool-input" && isObject(params["arguments"])) events.onInput(params["arguments"]);
  if (method === "ui/notifications/tool-result") events.onResult(params);
  if (method === "ui/notifications/tool-cancelled") events.onCancelled();
  if (method === "ui/notifications/host-context-changed") events.onContext(params);
}
