/** Queries a PostgreSQL database directly, on one connection that is reopened when it breaks. */

import type { Client } from "pg";

export interface Reader {
  query<Row extends object>(statement: string, values?: unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

export async function openPostgresReader(url: string): Promise<Reader> {
  const { Client: PostgresClient, types } = await import("pg");
  const numbers = (oid: number, format?: "text" | "binary") =>
    oid === 20 || oid === 1_700 ? Number : types.getTypeParser(oid, format);
  let client: Client | undefined;
  const connected = async (): Promise<Client> => {
    if (client !== undefined) return client;
    const fresh = new PostgresClient({ connectionString: url, types: { getTypeParser: numbers } });
    fresh.on("error", () => (client = undefined)).on("end", () => (client = undefined));
    await fresh.connect();
    client = fresh;
    return fresh;
  };
  return {
    query: async <Row extends object>(statement: string, values: unknown[] = []) =>
      (await (await connected()).query<Row>(statement, values)).rows,
    close: async () => client?.end().catch(() => undefined),
  };
}
