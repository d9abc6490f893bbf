/** Adapts `pg` connections for Kysely: strips NULs, translates errors, and retires broken connections. */

import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import type { Pool, PoolClient } from "pg";
import { AppError } from "../../errors.ts";
import { storable } from "../database.ts";
import { errorCodeOf } from "../../platform/error-code.ts";

/** The `session` statements run once on each new connection. */
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
  // The running query rejects with the same error; without a listener it would end the process.
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
  // After a timeout a late response could be taken for that of the next query, so no more queries are sent.
  let timeoutError: AppError | undefined;
  const send = async (text: string, parameters: readonly unknown[]): Promise<unknown> => {
    if (timeoutError !== undefined) throw timeoutError;
    try {
      return await guarded(() => client.query(text, parameters.map(bindable)));
    } catch (error) {
      if (isReadTimeout(error)) timeoutError = error;
      throw error;
    }
  };
  function query<Row>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  function query(cursor: never): never;
  async function query(text: string, parameters: readonly unknown[] = []): Promise<unknown> {
    const run = () => send(text, parameters);
    // A single statement can be retried here; after a conflict in a transaction the whole transaction must be.
    const result = inTransaction ? await run() : await run().catch((error) => retryConflict(error, run));
    if (/^(?:begin|start transaction)/.test(text)) inTransaction = true;
    if (/^(?:commit|rollback$)/.test(text)) inTransaction = false;
    return result;
  }
  return {
    query,
    release: (destroy) => {
      inTransaction = false;
      client.release(destroy === true || timeoutError !== undefined);
    },
  };
}

function retryConflict<T>(error: unknown, run: () => Promise<T>): Promise<T> {
  if (!isConflict(error)) throw error;
  return run();
}

/** PostgreSQL rejects NUL characters in text. */
const bindable = (value: unknown): unknown => (typeof value === "string" ? storable(value) : value);

async function guarded<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw databaseError(error);
  }
}

/** serialization_failure, deadlock_detected: rolled back by the server and safe to retry. */
export const isConflict = (error: unknown): boolean =>
  error instanceof AppError && ["40001", "40P01"].includes(errorCodeOf(error.cause));

/** The driver's own timeout error has no code. */
const isReadTimeout = (error: unknown): error is AppError =>
  error instanceof AppError && error.cause instanceof Error && error.cause.message === "Query read timeout";

const AUTHORIZATION_CLASS = "28";
const NO_SUCH_DATABASE = "3D000";
const DISK_FULL = "53100";
const NOT_WRITABLE = ["25006", "42501"];
/** A code of the server; other codes, such as EPIPE, come from the network or the driver. */
const SQLSTATE = /^(?:\d|F0|HV|P0|XX)[0-9A-Z]{3,4}$/;
/** connection_exception, operator_intervention, insufficient_resources: usually temporary. */
const TEMPORARY = /^(?:08|57|53)/;

/** The server's messages contain table names, users and values, so they are replaced. */
export function databaseError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = errorCodeOf(error);
  const of = (message: string, suggestion: string, retryable = false): AppError =>
    new AppError({ code: "SQLITE_ERROR", message, suggestion, retryable, cause: error });
  if (code === DISK_FULL) {
    return new AppError({
      code: "DISK_FULL",
      message: "The database cannot grow because the PostgreSQL server's disk is full.",
      suggestion: "Free some space there.",
      cause: error,
    });
  }
  if (code.startsWith(AUTHORIZATION_CLASS) || code === NO_SUCH_DATABASE) {
    return of(
      "The PostgreSQL database refuses the sign-in.",
      "Check user, password and name in GEMINI_SEARCH_DATABASE_URL.",
    );
  }
  if (NOT_WRITABLE.includes(code)) {
    return of("The database cannot be written.", "Check the permissions of the user in GEMINI_SEARCH_DATABASE_URL.");
  }
  if (!SQLSTATE.test(code) || TEMPORARY.test(code)) {
    return of(
      "The PostgreSQL database cannot be reached.",
      "Check that it is running and that GEMINI_SEARCH_DATABASE_URL is correct, then try again.",
      true,
    );
  }
  return of("A database request failed.", "Try again; the PostgreSQL server's log shows the reason.");
}
