/** A proxy in front of PostgreSQL that fails as networks do: silently, or in the middle of a response. */

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { TestContext } from "vitest";

export interface DatabaseProxy {
  /** The URL of the database through the proxy. */
  url: string;
  /** Forwards nothing once a client has sent this text, without closing connections. Resolves at that moment. */
  silenceAt(text: string): Promise<void>;
  /**
   * Once a client has sent these texts in order on one connection, drops the response to the last and the connection.
   * Resolves at that moment.
   */
  cutAfter(...texts: string[]): Promise<void>;
  /** Silenced connections stay silent; new ones are forwarded. */
  passAgain(): void;
}

interface Fault {
  texts: string[];
  kind: "silence" | "cut";
  met: () => void;
}

export async function startDatabaseProxy(
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  database: string,
): Promise<DatabaseProxy> {
  const target = new URL(database);
  const sockets = new Set<Socket>();
  let silent = false;
  let fault: Fault | undefined;

  const pass = (client: Socket): void => {
    const server = connect(Number(target.port), target.hostname);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    }
    let matched = 0;
    let isSilenced = silent;
    client.on("data", (chunk) => {
      if (fault !== undefined && chunk.includes(fault.texts[matched] ?? "")) matched += 1;
      if (fault?.kind === "silence" && matched === fault.texts.length) {
        silent = true;
        fault.met();
        fault = undefined;
      }
      isSilenced ||= silent;
      if (!isSilenced) server.write(chunk);
    });
    server.on("data", (chunk) => {
      isSilenced ||= silent;
      if (isSilenced) return;
      if (fault?.kind === "cut" && matched === fault.texts.length) {
        fault.met();
        fault = undefined;
        client.destroy();
      } else client.write(chunk);
    });
    client.on("close", () => server.destroy());
    server.on("close", () => void (isSilenced || client.destroy()));
  };

  const listening = createServer(pass).listen(0, "127.0.0.1");
  await once(listening, "listening");
  onTestFinished(() => {
    listening.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = listening.address();
  const through = new URL(database);
  through.host = `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const plan = (kind: Fault["kind"], texts: string[]): Promise<void> =>
    new Promise((met) => {
      fault = { kind, texts, met };
    });
  return {
    url: through.href,
    silenceAt: (text) => plan("silence", [text]),
    cutAfter: (...texts) => plan("cut", texts),
    passAgain: () => void (silent = false),
  };
}
