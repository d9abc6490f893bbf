/** An answer as its reader takes it best: laid out for somebody at a terminal, as it is for everything else. */

import type { Operation } from "../../operations/operation.ts";
import type { Outcome } from "../../operations/perform.ts";
import type { Paint } from "./paint.ts";

export interface Reader {
  /** Undefined: not a terminal. */
  width: number | undefined;
  paint: Paint;
  now: number;
}

export async function answerView(operation: Operation, outcome: Outcome, reader: Reader): Promise<string> {
  const { width, paint, now } = reader;
  if (width === undefined) return outcome.text;
  if (operation.name === "list_research") {
    const { listView } = await import("./list-view.ts");
    return listView(outcome.structured, { width, paint, now });
  }
  const { markdownView } = await import("./markdown-view.ts");
  return markdownView(outcome.text, { width, paint });
}
