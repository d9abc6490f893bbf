/** One life of the test build as a process: a server spoken to over stdio, or a worker, until it leaves or is killed. */

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { z } from "zod";

export interface LifeOptions {
  /** `dist-failpoints/main.js`. */
  build: string;
  env: Record<string, string>;
  args?: string[];
  /** `name:n`: where it kills itself. */
  failpoint?: string | undefined;
}

export interface Life {
  pid: number;
  /** Undefined when it died before it answered. */
  call(name: string, input: Record<string, unknown>): Promise<Answer | undefined>;
  kill(): void;
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
type Answer = z.infer<typeof answerSchema>;

const replySchema = z.object({ id: z.number(), result: z.object({ structuredContent: answerSchema }) });

const HELLO = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "kill-driver", version: "1.0.0" },
};

export function beginLife({ build, env, args = [], failpoint }: LifeOptions): Life {
  const script = `import(${JSON.stringify(build)}).then((program) => program.main(process.argv.slice(1)))`;
  const child = spawn(process.execPath, ["-e", script, ...args], {
    env: { ...env, ...(failpoint === undefined ? {} : { GEMINI_SEARCH_FAILPOINT: failpoint }) },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const waiting = new Map<number, (answer: Answer | undefined) => void>();
  let lastId = 0;
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => undefined);
  createInterface(child.stdout).on("line", (line) => {
    const reply = replySchema.safeParse(JSON.parse(line));
    if (!reply.success) return;
    waiting.get(reply.data.id)?.(reply.data.result.structuredContent);
    waiting.delete(reply.data.id);
  });
  const ended = new Promise<{ killed: boolean; code: number | null }>((resolve) => {
    child.once("close", (code, signal) => {
      for (const answer of waiting.values()) answer(undefined);
      waiting.clear();
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
    kill: () => void child.kill("SIGKILL"),
    closeStdin: () => void child.stdin.end(),
    stderr: () => stderr,
    ended,
  };
}
