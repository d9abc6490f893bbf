/** Starts a temporary PostgreSQL cluster that ends with the process that started it. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureSystemPackages, thisMachine } from "./system-packages.ts";

const run = promisify(execFile);

export interface Postgres {
  /** `postgres://postgres:…@127.0.0.1:port/`, to which a database name is appended. */
  url: string;
  /** The pid of the postmaster, whose children are the connections. */
  pid(): number;
  /** `fast` ends all connections and flushes; `immediate` is like a crash. Resolves when it accepts connections. */
  restart(how: "fast" | "immediate"): Promise<void>;
  /** Ends all connections and the server, and removes its files. */
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Without fsync a power cut loses everything, and tests are several times faster. */
  fsync?: boolean;
}

/** A fake password; tests check that it does not leak. */
const PASSWORD = "never-real-p@ss:4242";

/** Debian installs them outside PATH, by version. */
const DIRECTORIES = [18, 17, 16, 15].map((version) => `/usr/lib/postgresql/${version}/bin`);
const SEARCHED = [...DIRECTORIES, process.env["PATH"] ?? ""].join(":");

/**
 * Returns undefined if PostgreSQL is not installed and must not be. Debian's package creates its own cluster on
 * installation and starts it if there is a service manager; this one uses its own directory and port.
 */
export async function startPostgres({ fsync = false }: PostgresOptions = {}): Promise<Postgres | undefined> {
  const machine = { ...thisMachine, environment: { ...process.env, PATH: SEARCHED } };
  const packages = await ensureSystemPackages(["postgresql"], { commands: ["initdb", "postgres"], machine });
  if (packages === "missing") return undefined;
  const user = await unprivilegedUser();
  const directory = mkdtempSync(join(tmpdir(), "gemini-search-postgres-"));
  if (user !== undefined) chownSync(directory, user.uid, user.gid);
  try {
    await createCluster(directory, user);
    const port = await freePort();
    const start = (): Promise<ChildProcess> => startServer({ directory, port, fsync, user });
    let server = await start();
    return {
      pid: () => server.pid ?? 0,
      restart: async (how) => {
        await end(server, how === "fast" ? "SIGINT" : "SIGQUIT");
        server = await start();
      },
      url: `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/`,
      stop: async () => {
        await end(server);
        rmSync(directory, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

interface User {
  uid: number;
  gid: number;
}

/** PostgreSQL refuses to run as root. */
async function unprivilegedUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    const [uid, gid] = await Promise.all(["-u", "-g"].map((flag) => run("id", [flag, name]).catch(() => undefined)));
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  }
  return undefined;
}

const programIn = (name: string): string =>
  SEARCHED.split(":")
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path)) ?? name;

async function createCluster(directory: string, user: User | undefined): Promise<void> {
  const passwordFile = join(directory, "password");
  writeFileSync(passwordFile, PASSWORD, { mode: 0o644 });
  chmodSync(directory, 0o700);
  const options = ["--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions"];
  const sign = ["--auth-local=trust", "--auth-host=scram-sha-256", `--pwfile=${passwordFile}`];
  await run(programIn("initdb"), [`--pgdata=${join(directory, "data")}`, ...options, ...sign], {
    cwd: directory,
    ...user,
  });
}

interface ServerOptions {
  directory: string;
  port: number;
  fsync: boolean;
  user: User | undefined;
}

async function startServer({ directory, port, fsync, user }: ServerOptions): Promise<ChildProcess> {
  const durable = fsync ? [] : ["fsync=off", "synchronous_commit=off", "full_page_writes=off"];
  const settings = [`listen_addresses=127.0.0.1`, `unix_socket_directories=${directory}`, "max_connections=300"];
  const server = [programIn("postgres"), "-D", join(directory, "data"), "-p", String(port)].concat(
    [...settings, ...durable].flatMap((setting) => ["-c", setting]),
  );
  // The kernel ends the child when this process dies for any reason; as root, another user must run it.
  const asUser = user === undefined ? [] : [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"];
  const child = spawn("setpriv", ["--pdeathsig", "INT", ...asUser, ...server], {
    cwd: directory,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let output = "";
  await new Promise<void>((resolve, reject) => {
    child.stderr.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-10_000);
      if (output.includes("ready to accept connections")) resolve();
    });
    child.on("error", reject);
    child.on("exit", () => reject(new Error(`PostgreSQL did not start: ${output}`)));
  });
  return child;
}

/** SIGINT is the fast shutdown: connections are ended, not awaited. */
async function end(server: ChildProcess, signal: "SIGINT" | "SIGQUIT" = "SIGINT"): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  server.kill(signal);
  await once(server, "exit");
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("No port is free.");
  return address.port;
}
