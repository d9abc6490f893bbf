/** Starts a search, which the server continues when the page is closed. */

import type { Acted } from "../../wire.ts";
import { postJson } from "../app/request.ts";
import type { Draft } from "./draft.ts";

export const askSearch = ({ query, depth, wishes }: Draft): Promise<Acted> =>
  postJson<Acted>("/api/ask", { query: query.trim(), depth, ...wishes });
