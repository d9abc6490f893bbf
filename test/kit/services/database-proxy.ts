/** A proxy in front of PostgreSQL that fails as networks do: silently, or in the middle of a response. */

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { TestContext } from "vitest";

export interface DatabaseProxy {
  /** The URL of the database through the proxy. */
  url: string;
  /** Forwards nothing once a client has sent this text, without closing connections. Resolves at that moment. */
  silenceAt(words: string): Promise<void>;
  /**
   * Once a client has sent these texts in order on one connection, drops the response to the last and the connection.
   * Resolves at that moment.
   */
  cutAfter(...words: string[]): Promise<void>;
  /** Silenced connections stay silent; new ones are forwarded. */
  passAgain(): void;
}

interface Fault {
  words: string[];
  kind: "silence" | "cut";
  met: () => void;
}

export async function standBefore(
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
    let said = 0;
    let swallowed = silent;
    client.on("data", (chunk) => {
      if (fault !== undefined && chunk.includes(fault.words[said] ?? "")) said += 1;
      if (fault?.kind === "silence" && said === fault.words.length) {
        silent = true;
        fault.met();
        fault = undefined;
      }
      swallowed ||= silent;
      if (!swallowed) server.write(chunk);
    });
    server.on("data", (chunk) => {
      swallowed ||= silent;
      if (swallowed) return;
      if (fault?.kind === "cut" && said === fault.words.length) {
        fault.met();
        fault = undefined;
        client.destroy();
      } else client.write(chunk);
    });
    client.on("close", () => server.destroy());
    server.on("close", () => void (swallowed || client.destroy()));
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
  const meet = (kind: Fault["kind"], words: string[]): Promise<void> =>
    new Promise((met) => {
      fault = { kind, words, met };
    });
  return {
    url: through.href,
    silenceAt: (words) => meet("silence", [words]),
    cutAfter: (...words) => meet("cut", words),
    passAgain: () => void (silent = false),
  };
}
