/**
 * Simulates a separate machine for one process with Linux namespaces: a host name, a network, and a link that can be
 * cut.
 */

import { execFile } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { promisify } from "node:util";
import { ensureSystemPackages } from "../../scripts/system-packages.ts";

const run = promisify(execFile);

export interface Machine {
  /** The prefix of a command that runs it on this machine. */
  commandPrefix: string[];
  /** The URLs of the database and of Google, as reachable from this machine. */
  database: string;
  google: string;
  /** Drops all packets between the machine and the database silently, by sending them to an unused MAC address. */
  cut(): Promise<void>;
  mend(): Promise<void>;
  remove(): Promise<void>;
}

/** Namespaces require root. */
export async function canCreateNamespaces(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  return (await ensureSystemPackages(["iproute2"], { commands: ["ip", "unshare"] })) === "ready";
}

const UNUSED_MAC = "02:00:00:00:00:99";

export async function createMachine(number: number, urls: { database: string; google: string }): Promise<Machine> {
  const name = `fleet-${number}`;
  const [here, there] = [`fleet${number}h`, `fleet${number}m`];
  const address = (last: number): string => `10.211.${number}.${last}`;
  const ip = (...args: string[]): Promise<unknown> => run("ip", args);
  const inside = (...args: string[]): Promise<unknown> => ip("-n", name, ...args);
  const removeNetwork = async (): Promise<void> => {
    await ip("link", "del", here).catch(() => undefined);
    await ip("netns", "del", name).catch(() => undefined);
  };
  await removeNetwork();
  await ip("netns", "add", name);
  await ip("link", "add", here, "type", "veth", "peer", "name", there);
  await ip("link", "set", there, "netns", name);
  // Two networks on one link, so that the database can be cut off while Google stays reachable.
  for (const [ours, theirs] of [
    [1, 2],
    [5, 6],
  ] as const) {
    await ip("addr", "add", `${address(ours)}/30`, "dev", here);
    await inside("addr", "add", `${address(theirs)}/30`, "dev", there);
  }
  await ip("link", "set", here, "up");
  await inside("link", "set", there, "up");
  await inside("link", "set", "lo", "up");
  const forwards = [await forward(urls.database, address(1)), await forward(urls.google, address(5))];
  const ends = [
    { at: ip, device: here, to: address(2) },
    { at: inside, device: there, to: address(1) },
  ];
  return {
    commandPrefix: ["ip", "netns", "exec", name, ...withHostname(name)],
    database: withHost(urls.database, address(1)),
    google: withHost(urls.google, address(5)),
    cut: async () => {
      for (const { at, device, to } of ends) {
        await at("neigh", "replace", to, "lladdr", UNUSED_MAC, "nud", "permanent", "dev", device);
      }
    },
    mend: async () => {
      for (const { at, device, to } of ends) await at("neigh", "del", to, "dev", device);
    },
    remove: async () => {
      for (const { close } of forwards) close();
      await removeNetwork();
    },
  };
}

/** Processes with different host names do not check each other's pids. */
export const withHostname = (name: string): string[] => [
  "unshare",
  "--uts",
  "sh",
  "-c",
  `hostname ${name} && exec "$@"`,
  "sh",
];

function withHost(url: string, host: string): string {
  const changed = new URL(url);
  changed.hostname = host;
  return changed.href.replace(/\/$/, "");
}

/** Forwards connections from another address to a server that listens on loopback only. */
async function forward(url: string, host: string): Promise<{ close(): void }> {
  const port = Number(new URL(url).port);
  const open = new Set<Socket>();
  const join = (from: Socket, to: Socket): void => {
    open.add(from);
    from.pipe(to);
    from
      .on("error", () => undefined)
      .on("close", () => {
        open.delete(from);
        to.destroy();
      });
  };
  const server: Server = createServer((socket) => {
    const onward = connect(port, "127.0.0.1");
    join(socket, onward);
    join(onward, socket);
  }).listen(port, host);
  await once(server, "listening");
  return {
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
