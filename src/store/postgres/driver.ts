/** The driver's connections as Kysely uses them: text that PostgreSQL takes, errors in our words, nothing left broken. */

import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import type { Pool, PoolClient } from "pg";
import { AppError } from "../../errors.ts";
import { storable } from "../database.ts";

/** `session` is said once on each new connection. */
export function createDriverPool(pool: Pool, session: string[]): PostgresPool {
  const known = new WeakMap<PoolClient, PostgresPoolClient>();
  return {
    options: pool.options,
    end: () => pool.end(),
    connect: async () => {
      const client = await guarded(() => pool.connect());
      const ready = known.get(client) ?? (await prepare(client, session));
      known.set(client, ready);
      return ready;
    },
  };
}

async function prepare(client: PoolClient, session: string[]): Promise<PostgresPoolClient> {
  // The query that is under way gets the error too; without a listener it would end the process.
  client.on("error", () => undefined);
  try {
    for (const statement of session) await guarded(() => client.query(statement));
  } catch (error) {
    client.release(true);
    throw error;
  }
  return forKysely(client);
}

function forKysely(client: PoolClient): PostgresPoolClient {
  let inTransaction = false;
  // Its answer may still come, and would be taken for that of the next query: nothing more is said on it.
  let unanswered: AppError | undefined;
  const say = async (text: string, parameters: readonly unknown[]): Promise<unknown> => {
    if (unanswered !== undefined) throw unanswered;
    try {
      return await guarded(() => client.query(text, parameters.map(bindable)));
    } catch (error) {
      if (isUnanswered(error)) unanswered = error;
      throw error;
    }
  };
  function query<Row>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  function query(cursor: never): never;
  async function query(text: string, parameters: readonly unknown[] = []): Promise<unknown> {
    const run = () => say(text, parameters);
    // A statement that stands alone can be made again at once; of a transaction the whole has to be.
    const result = inTransaction ? await run() : await run().catch((error) => again(error, run));
    if (/^(?:begin|start transaction)/.test(text)) inTransaction = true;
    if (/^(?:commit|rollback$)/.test(text)) inTransaction = false;
    return result;
  }
  return {
    query,
    release: (destroy) => {
      inTransaction = false;
      client.release(destroy === true || unanswered !== undefined);
    },
  };
}

function again<T>(error: unknown, run: () => Promise<T>): Promise<T> {
  if (!isConflict(error)) throw error;
  return run();
}

/** PostgreSQL takes no NUL in a text, wherever it came from. */
const bindable = (value: unknown): unknown => (typeof value === "string" ? storable(value) : value);

async function guarded<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw databaseError(error);
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

/** serialization_failure, deadlock_detected: nothing was done, and nothing is wrong. */
export const isConflict = (error: unknown): boolean =>
  error instanceof AppError && ["40001", "40P01"].includes(codeOf(error.cause));

/** The driver gives its own time limit no code. */
const isUnanswered = (error: unknown): error is AppError =>
  error instanceof AppError && error.cause instanceof Error && error.cause.message === "Query read timeout";

const SIGN_IN = "28";
const NO_SUCH_DATABASE = "3D000";
const DISK_FULL = "53100";
const NOT_ALLOWED = ["25006", "42501"];
/** SQLSTATE; other codes, such as EPIPE, come from the network or the driver. */
const IS_SERVERS = /^(?:\d|F0|HV|P0|XX)[0-9A-Z]{3,4}$/;
/** connection_exception, operator_intervention, insufficient_resources: it may be there again soon. */
const PASSING = /^(?:08|57|53)/;

/** The server's messages name tables, users and values; ours say what to do. */
export function databaseError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = codeOf(error);
  const of = (message: string, suggestion: string, retryable = false): AppError =>
    new AppError({ code: "SQLITE_ERROR", message, suggestion, retryable, cause: error });
  if (code === DISK_FULL) {
    return new AppError({
      code: "DISK_FULL",
      message: "The database cannot grow because the disk of the PostgreSQL server is full.",
      suggestion: "Free some space there.",
      cause: error,
    });
  }
  if (code.startsWith(SIGN_IN) || code === NO_SUCH_DATABASE) {
    return of(
      "The PostgreSQL database refuses the sign-in.",
      "Check user, password and name in GEMINI_SEARCH_DATABASE_URL.",
    );
  }
  if (NOT_ALLOWED.includes(code)) {
    return of("The database cannot be written.", "Check what the user in GEMINI_SEARCH_DATABASE_URL may do there.");
  }
  if (!IS_SERVERS.test(code) || PASSING.test(code)) {
    return of(
      "The PostgreSQL database cannot be reached.",
      "Check that it runs and that GEMINI_SEARCH_DATABASE_URL leads to it; then try again.",
      true,
    );
  }
  return of("The database did not carry out a request.", "Try again; the log of the PostgreSQL server says why.");
}
