/** Shutdown over HTTP: the server exits with open streams, idle connections and calls. */

import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openHttpScene, type RunningHttpServer } from "../kit/server/http-server.ts";
import { isAlive } from "../kit/server/processes.ts";
import { storedRun } from "../kit/store/stored-run.ts";
import { waitFor } from "../kit/wait-for.ts";

const QUERY = "How do heat pumps perform in cold climates?";
const SOON = { interval: 20 };

/** How long it takes is measured by `npm run lab -- shutdown`. */
async function expectExit({ pid, exited }: RunningHttpServer, signal: NodeJS.Signals): Promise<void> {
  process.kill(pid, signal);
  expect(await exited).toBe(0);
  expect(isAlive(pid)).toBe(false);
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
    await expectExit(server, signal);
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
    await expectExit(server, "SIGTERM");
    const answer = await answered;
    expect(answer).toMatchObject({ isError: true, structured: { error: { code: "INTERRUPTED" } } });
    const { task_id } = (await call).structured;
    expect(storedRun(scene.configDir, task_id)).toMatchObject({ status: "failed", error_code: "INTERRUPTED" });
  },
);
