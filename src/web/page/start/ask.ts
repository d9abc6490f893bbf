/** Starts a search, which the server continues when the page is closed. */

import type { Acted } from "../../wire.ts";
import { keep, readKept } from "../app/browser-storage.ts";
import { postJson } from "../app/request.ts";
import type { Draft } from "./draft.ts";

/** Kept until the server has answered: a question that is sent again after a lost answer is not paid twice. */
const UNANSWERED = "unanswered";

export async function askSearch({ query, depth, wishes }: Draft): Promise<Acted> {
  // `randomUUID` needs TLS.
  const id = readKept(UNANSWERED) ?? crypto.getRandomValues(new Uint32Array(4)).join("-");
  keep(UNANSWERED, id);
  const acted = await postJson<Acted>("/api/ask", { query: query.trim(), depth, ...wishes, request_id: id });
  keep(UNANSWERED, undefined);
  return acted;
}
