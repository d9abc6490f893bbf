/** Shutdown over HTTP: the server exits in time with open streams, idle connections and calls. */

import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openHttpScene, type RunningHttpServer } from "../kit/server/http-server.ts";
import { isAlive } from "../kit/server/processes.ts";
import { storedRun } from "../kit/store/stored-run.ts";
import { waitFor } from "../kit/wait-for.ts";
import { onBusyMachine } from "../kit/clock/time-limits.ts";

const QUERY = "How do heat pumps perform in cold climates?";
/** A8. */
const LEAVES_WITHIN_MS = 3_500;
const SOON = { interval: 20 };

async function millisecondsToLeave({ pid, exited }: RunningHttpServer, signal: NodeJS.Signals): Promise<number> {
  const from = performance.now();
  process.kill(pid, signal);
  expect(await exited).toBe(0);
  expect(isAlive(pid)).toBe(false);
  return performance.now() - from;
}

/** A connection that is kept open: idle, in the middle of a header, or of a body. */
async function hold(server: RunningHttpServer, text: string): Promise<void> {
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => undefined);
  await new Promise<void>((resolve) => void socket.write(text, () => resolve()));
}

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
  "%s ends a server with open streams and connections in time (A8)",
  async (signal) => {
    const scene = await openHttpScene({ onTestFinished });
    const server = await scene.http();
    const modern = await server.connect("modern");
    const subscription = await modern.client.listen({ toolsListChanged: true });
    const legacy = await server.connect("legacy");
    await legacy.client.ping();
    await hold(server, "");
    await hold(server, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await hold(server, "POST /mcp HTTP/1.1\r\nHost: loc");
    await hold(
      server,
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    expect(await millisecondsToLeave(server, signal)).toBeLessThan(onBusyMachine(LEAVES_WITHIN_MS));
    expect(await subscription.closed).toBe("graceful");
    expect(server.stdout()).toBe("");
  },
);

test.each(["modern", "legacy"] as const)(
  "a %s client is informed that its call was interrupted (A8, G8)",
  async (era) => {
    const scene = await openHttpScene({ onTestFinished }, { name: "stuck", tasks: { verify: [{ fault: "hang" }] } });
    const server = await scene.http();
    const http = await server.connect(era);
    const call = http.call("deep_search", { query: QUERY }, { onProgress: () => undefined });
    const answered = call.catch((error: unknown) => error);
    await waitFor(() => expect(scene.gemini.ledger.count("verify")).toBe(1), SOON);
    expect(await millisecondsToLeave(server, "SIGTERM")).toBeLessThan(onBusyMachine(LEAVES_WITHIN_MS));
    const answer = await answered;
    expect(answer).toMatchObject({ isError: true, structured: { error: { code: "INTERRUPTED" } } });
    const { task_id } = (await call).structured;
    expect(storedRun(scene.configDir, task_id)).toMatchObject({ status: "failed", error_code: "INTERRUPTED" });
  },
);
