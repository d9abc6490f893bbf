/** Starts a server on a free port of loopback for the duration of a test. */

import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import type { Server } from "node:net";
import { onTestFinished } from "vitest";

export async function listen(server: Server | HttpServer): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port.");
  return address.port;
}
