/** Receives notifications about changed runs on one connection per process, open while there are subscribers. */

import { createHash, randomUUID } from "node:crypto";
import type { Client } from "pg";
import type { Log } from "../../platform/log.ts";

/** Called without an id when notifications may have been lost or no longer arrive. */
type OnRunChanged = (taskId: string | undefined) => void;

export interface RunNotifications {
  /** Calls back for every changed run of this owner; the returned function unsubscribes. */
  subscribe(owner: string, onChanged: OnRunChanged): () => void;
  /** Whether notifications arrive: false without a connection, and behind a pooler that does not forward them. */
  isLive(): boolean;
  close(): Promise<void>;
}

export interface RunNotificationsOptions {
  /** A new client that is not connected yet. */
  createClient: () => Client;
  /** Sends a notification on any other connection. */
  send: (channel: string, payload: string) => Promise<unknown>;
  log: Pick<Log, "debug">;
}

/** The channel used by the triggers of the table of runs. */
const CHANNEL = "gemini_search_runs";
/** Detects connections that died without an error: we notify ourselves and expect the notification back. */
const ECHO_INTERVAL_MS = 30_000;
const ECHO_TIMEOUT_MS = 5_000;
const MIN_RECONNECT_MS = 500;
const MAX_RECONNECT_MS = 30_000;

const hashOf = (owner: string): string => createHash("sha256").update(owner).digest("hex").slice(0, 16);

export function createRunNotifications(options: RunNotificationsOptions): RunNotifications {
  const subscribers = new Map<string, Set<{ onChanged: OnRunChanged }>>();
  let connection: Connection | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;

  const notifyAll = (): void => {
    for (const { onChanged } of [...subscribers.values()].flatMap((set) => [...set])) onChanged(undefined);
  };
  const connect = (): void => {
    const opened = openConnection(options, {
      onNotification: (hash, taskId) => {
        for (const { onChanged } of subscribers.get(hash) ?? []) onChanged(taskId);
      },
      onLive: () => {
        failures = 0;
        notifyAll();
      },
      onLost: () => {
        if (connection !== opened) return;
        connection = undefined;
        failures += 1;
        options.log.debug("Notifications about changed runs do not arrive; the database is polled every second.");
        timer = setTimeout(connect, reconnectDelay(failures)).unref();
        notifyAll();
      },
    });
    connection = opened;
  };
  const disconnect = async (): Promise<void> => {
    clearTimeout(timer);
    const closing = connection;
    connection = undefined;
    await closing?.close();
  };
  return {
    subscribe: (owner, onChanged) => {
      const hash = hashOf(owner);
      const ofOwner = subscribers.get(hash) ?? new Set();
      const subscriber = { onChanged };
      if (subscribers.size === 0) connect();
      subscribers.set(hash, ofOwner.add(subscriber));
      return () => {
        if (!ofOwner.delete(subscriber) || ofOwner.size > 0) return;
        subscribers.delete(hash);
        if (subscribers.size === 0) void disconnect();
      };
    },
    isLive: () => connection?.isLive() === true,
    close: async () => {
      subscribers.clear();
      await disconnect();
    },
  };
}

/** Exponential backoff with jitter, so that processes do not all reconnect at the same time. */
const reconnectDelay = (failures: number): number =>
  Math.min(MAX_RECONNECT_MS, MIN_RECONNECT_MS * 2 ** failures) * (0.5 + Math.random() / 2);

interface Connection {
  isLive(): boolean;
  close(): Promise<void>;
}

interface ConnectionEvents {
  onNotification: (hash: string, taskId: string) => void;
  /** The first echo arrived. */
  onLive: () => void;
  onLost: () => void;
}

function openConnection({ createClient, send }: RunNotificationsOptions, events: ConnectionEvents): Connection {
  const client = createClient();
  const echo = `echo ${randomUUID()}`;
  let isLive = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    isLive = false;
    clearTimeout(timer);
    await client.end().catch(() => undefined);
  };
  const lose = (): void => {
    if (isClosed) return;
    void close();
    events.onLost();
  };
  const expectEcho = (): void => {
    timer = setTimeout(lose, ECHO_TIMEOUT_MS).unref();
    // On another connection: a pooler may deliver only the notifications a client sends itself.
    send(CHANNEL, echo).catch(lose);
  };
  client.on("error", lose);
  client.on("end", lose);
  client.on("notification", ({ payload = "" }) => {
    if (isClosed) return;
    const [hash = "", taskId = ""] = payload.split(" ");
    if (hash !== "echo") return events.onNotification(hash, taskId);
    if (payload !== echo) return undefined;
    clearTimeout(timer);
    timer = setTimeout(expectEcho, ECHO_INTERVAL_MS).unref();
    if (!isLive) {
      isLive = true;
      events.onLive();
    }
    return undefined;
  });
  client
    .connect()
    .then(() => client.query(`listen ${CHANNEL}`))
    .then(() => (isClosed ? undefined : expectEcho()))
    .catch(lose);
  return { isLive: () => isLive, close };
}
