/** A process of the built program, a stdio server or a worker, from its start until it exits or is killed. */

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { z } from "zod";
import { NODE_ARGUMENTS } from "../server/server.ts";

export interface ProcessOptions {
  /** `dist/main.js`, or `dist-failpoints/main.js`. */
  build: string;
  env: Record<string, string>;
  args?: string[];
  /** `name:n`: the process kills itself at the n-th pass of this failpoint. */
  failpoint?: string | undefined;
  /** Runs the process as another user; requires root. */
  uid?: number | undefined;
}

export interface ProductProcess {
  pid: number;
  /** Resolves when `initialize` is answered or the process has ended. */
  ready: Promise<void>;
  /** Returns undefined if the process died before it responded. */
  call(name: string, input: Record<string, unknown>): Promise<Answer | undefined>;
  /** Cancels the latest call. */
  cancelCall(): void;
  kill(): void;
  signal(name: NodeJS.Signals): void;
  /** Closes our end of stdout, so that the server's next write fails. */
  stopReading(): void;
  closeStdin(): void;
  stderr(): string;
  ended: Promise<{ killed: boolean; code: number | null }>;
}

const answerSchema = z.looseObject({
  success: z.boolean(),
  task_id: z.string().optional(),
  status: z.string().optional(),
  joined: z.boolean().optional(),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
});
export type Answer = z.infer<typeof answerSchema>;

/** A user who agrees to everything: what the judge counts are the decisions. */
const AGREED = { action: "accept", content: {} };
const questionSchema = z.object({ id: z.union([z.string(), z.number()]), method: z.literal("elicitation/create") });
const greetingSchema = z.object({ id: z.literal(0) });
const replySchema = z.object({ id: z.number(), result: z.object({ structuredContent: answerSchema }) });

const HELLO = {
  protocolVersion: "2025-11-25",
  capabilities: { elicitation: {} },
  clientInfo: { name: "kill-driver", version: "1.0.0" },
};

export function startProcess({ build, env, args = [], failpoint, uid }: ProcessOptions): ProductProcess {
  const script = `import(${JSON.stringify(build)}).then((program) => program.main(process.argv.slice(1)))`;
  const child = spawn(process.execPath, [...NODE_ARGUMENTS, "-e", script, ...args], {
    env: { ...env, ...(failpoint === undefined ? {} : { GEMINI_SEARCH_FAILPOINT: failpoint }) },
    stdio: ["pipe", "pipe", "pipe"],
    ...(uid === undefined ? {} : { uid }),
  });
  const waiting = new Map<number, (answer: Answer | undefined) => void>();
  let lastId = 0;
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => undefined);
  const greeted = Promise.withResolvers<void>();
  createInterface(child.stdout).on("line", (line) => {
    const message: unknown = JSON.parse(line);
    if (greetingSchema.safeParse(message).success) greeted.resolve();
    const question = questionSchema.safeParse(message);
    if (question.success) send({ id: question.data.id, result: AGREED });
    const reply = replySchema.safeParse(message);
    if (!reply.success) return;
    waiting.get(reply.data.id)?.(reply.data.result.structuredContent);
    waiting.delete(reply.data.id);
  });
  const ended = new Promise<{ killed: boolean; code: number | null }>((resolve) => {
    child.once("close", (code, signal) => {
      for (const answer of waiting.values()) answer(undefined);
      waiting.clear();
      greeted.resolve();
      resolve({ killed: signal === "SIGKILL", code });
    });
  });
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  if (args.length === 0) {
    send({ id: 0, method: "initialize", params: HELLO });
    send({ method: "notifications/initialized" });
  }
  return {
    pid: child.pid ?? 0,
    ready: greeted.promise,
    call: (name, input) =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) {
          resolve(undefined);
          return;
        }
        lastId += 1;
        waiting.set(lastId, resolve);
        send({ id: lastId, method: "tools/call", params: { name, arguments: input } });
      }),
    cancelCall: () => send({ method: "notifications/cancelled", params: { requestId: lastId } }),
    kill: () => void child.kill("SIGKILL"),
    signal: (name) => void child.kill(name),
    stopReading: () => void child.stdout.destroy(),
    closeStdin: () => void child.stdin.end(),
    stderr: () => stderr,
    ended,
  };
}
