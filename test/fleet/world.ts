/** Two servers and three workers on one PostgreSQL, the simulator with its ledger, and a counting notifier. */

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { freePort, type Postgres, startPostgres } from "../../scripts/postgres.ts";
import type { ScenarioInput } from "../../simulator/scenario.ts";
import { type Simulator, startSimulator } from "../../simulator/server.ts";
import { startCommand } from "../kit/server/command.ts";
import type { User } from "../kit/judge/decisions.ts";
import { userOf } from "../kit/judge/recorded-calls.ts";
import { installNotifier, readLines, seeded } from "../kit/kills/world.ts";
import { COMPILE_CACHE, isolatedEnvironment, temporaryDirectory, TEST_KEY } from "../kit/server/server.ts";
import { canCreateNamespaces, createMachine, type Machine, withHostname } from "./machine.ts";
import { type Member, startMember } from "./member.ts";
import { openPostgresReader } from "./postgres-reader.ts";

export interface FleetWorld {
  gemini: Simulator;
  postgres: Postgres;
  members: Member[];
  /** Whether each process has its own machine, so that its death shows only by missing heartbeats. */
  isolated: boolean;
  /** The tokens of all users. */
  tokens: string[];
  random: () => number;
  /** Task ids that a client received; none may be lost. */
  returned: Set<string>;
  /** Runs that were returned as accepted by Google. */
  accepted: Set<string>;
  /** What the users decided. */
  user: User;
  /** Starts that were in flight when their server was killed, with the time of the kill. */
  killedStarts: Map<string, number>;
  query<Row extends object>(statement: string, values?: unknown[]): Promise<Row[]>;
  notified(): string[];
  close(): Promise<void>;
}

export interface FleetOptions {
  seed: number;
  /** Requests separate machines, which are used if namespaces are available. */
  isolate: boolean;
  scenario: (random: () => number) => ScenarioInput;
}

const SERVERS = ["server-1", "server-2"];
const WORKERS = ["worker-1", "worker-2", "worker-3"];
const USERS = ["ann", "ben"];
/** The token of the server's owner, who alone receives notifications. */
const OWN_TOKEN = "test-token-never-real-0123456789abcdef";

export async function openFleetWorld({ seed, isolate, scenario }: FleetOptions): Promise<FleetWorld | undefined> {
  const undo: (() => Promise<unknown> | void)[] = [];
  const close = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    const random = seeded(seed);
    // A crash of PostgreSQL must not lose committed data.
    const postgres = await startPostgres({ fsync: true });
    if (postgres === undefined) return undefined;
    undo.push(() => postgres.stop());
    const gemini = await startSimulator({ scenario: scenario(random) });
    undo.push(() => gemini.close());
    const folder = temporaryDirectory();
    undo.push(() => rmSync(folder, { recursive: true, force: true }));
    const endpoints = { folder, database: `${postgres.url}postgres`, google: gemini.url };
    const tokens = await addUsers(endpoints);
    const isIsolated = isolate && (await canCreateNamespaces());
    const members: Member[] = [];
    undo.push(() => Promise.all(members.map((member) => member.stop())));
    for (const [index, name] of [...SERVERS, ...WORKERS].entries()) {
      const machine = isIsolated && WORKERS.includes(name) ? await createMachine(index, endpoints) : undefined;
      if (machine !== undefined) undo.splice(-1, 0, () => machine.remove());
      members.push(await memberOf(endpoints, { name, machine, isIsolated }));
    }
    const reader = await openPostgresReader(endpoints.database);
    undo.push(() => reader.close());
    return {
      gemini,
      postgres,
      members,
      isolated: isIsolated,
      tokens,
      random,
      returned: new Set(),
      accepted: new Set(),
      user: userOf(gemini),
      killedStarts: new Map(),
      query: reader.query,
      notified: () => readLines(join(folder, "notifications.txt")),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Endpoints {
  folder: string;
  database: string;
  google: string;
}

function settings({ folder, database, google }: Endpoints, name: string): Record<string, string> {
  const own = join(folder, name);
  const bin = join(folder, "bin");
  for (const directory of [own, bin]) mkdirSync(directory, { recursive: true });
  installNotifier(join(bin, "notify-send"), join(folder, "notifications.txt"));
  return {
    ...isolatedEnvironment(own),
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    // There is no bus at this address; the notifier only checks that a desktop is configured.
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(folder, "bus")}`,
    SEARCH_BACKEND: "api",
    GOOGLE_GEMINI_BASE_URL: google,
    GEMINI_API_KEY: TEST_KEY,
    GEMINI_SEARCH_DATABASE_URL: database,
    MCP_AUTH_TOKEN: OWN_TOKEN,
    MCP_RATE_LIMIT_PER_MINUTE: "10000",
    RESEARCH_SYNC_WINDOW_MS: "0",
    RESEARCH_POLL_INTERVAL_MS: "1000",
    RESEARCH_MAX_RPS: "100",
    NODE_COMPILE_CACHE: COMPILE_CACHE,
  };
}

async function addUsers(endpoints: Endpoints): Promise<string[]> {
  const tokens = [OWN_TOKEN];
  for (const user of USERS) {
    const { stdout, code, stderr } = await startCommand(["token", "add", user], {
      env: settings(endpoints, "users"),
    }).ended;
    if (code !== 0) throw new Error(`No token for ${user}: ${stderr}`);
    tokens.push(stdout.trim());
  }
  return tokens;
}

async function memberOf(
  endpoints: Endpoints,
  { name, machine, isIsolated }: { name: string; machine: Machine | undefined; isIsolated: boolean },
): Promise<Member> {
  const isServer = SERVERS.includes(name);
  const port = isServer ? await freePort() : undefined;
  const seen = machine === undefined ? endpoints : { ...endpoints, database: machine.database, google: machine.google };
  return startMember({
    name,
    service: isServer ? "server" : "worker",
    url: port === undefined ? undefined : `http://127.0.0.1:${port}`,
    env: {
      ...settings(seen, name),
      ...(port !== undefined && { MCP_SERVER_PORT: String(port), RESEARCH_MAX_RPS: "0" }),
    },
    commandPrefix: machine?.commandPrefix ?? (isIsolated ? withHostname(name) : []),
    machine,
  });
}
