/** Queries that Kysely builds and compiles once per database: that takes longer than to read a row with the result. */

import type { CompiledQuery } from "kysely";
import type { Database } from "./database.ts";

/** Stands in the compiled query for a value that each execution provides. */
class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

type Values = Record<string, unknown>;

/** `build` passes its values on to the query and does nothing else with them. */
export function compiledQuery<Given extends Values, Row>(
  build: (db: Database, values: Given) => { compile(): CompiledQuery<Row> },
): (db: Database, values: Given) => Promise<Row[]> {
  // By executor: that of another database, or with a plugin, compiles to something else.
  const compiled = new WeakMap<object, CompiledQuery<Row>>();
  const compile = (db: Database): CompiledQuery<Row> => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Kysely takes any object as the value of a parameter
    const slots = new Proxy({}, { get: (_target, name) => new Slot(String(name)) }) as Given;
    return build(db, slots).compile();
  };
  return async (db, values) => {
    const executor = db.getExecutor();
    const query: CompiledQuery<Row> = compiled.get(executor) ?? compile(db);
    compiled.set(executor, query);
    const parameters = query.parameters.map((value) => (value instanceof Slot ? values[value.name] : value));
    return (await db.executeQuery<Row>({ ...query, parameters })).rows;
  };
}
