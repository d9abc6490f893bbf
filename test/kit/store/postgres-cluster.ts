/** Starts the PostgreSQL of a test run before the first test of its project, with a template database. */

import type { TestProject } from "vitest/node";
import { startPostgres } from "../../../scripts/postgres.ts";
import { createLog } from "../../../src/platform/log.ts";
import { openPostgres } from "../../../src/store/postgres/postgres.ts";
import { TEMPLATE } from "./databases.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Empty without PostgreSQL: tests that need it are skipped. */
    postgres: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startPostgres();
  project.provide("postgres", postgres?.url ?? "");
  if (postgres === undefined) return async () => {};
  try {
    await makeTemplate(postgres.url);
  } catch (error) {
    await postgres.stop();
    throw error;
  }
  return () => postgres.stop();
}

async function makeTemplate(server: string): Promise<void> {
  const { Client } = await import("pg");
  const client = new Client({ connectionString: `${server}postgres` });
  await client.connect();
  await client.query(`create database ${TEMPLATE}`);
  await client.end();
  const log = createLog({ from: "WARN", format: "text", redact: (text) => text });
  const template = await openPostgres({ url: server + TEMPLATE, connections: 2, log });
  await template.close();
}
