/** Renames, stars and archives runs on the server, and shows the result everywhere on this page at once. */

import type { RunHead } from "../../../operations/view/run-view.ts";
import type { Organized } from "../../wire.ts";
import { postJson } from "../app/request.ts";
import { receive } from "../live/live.ts";

export interface Marks {
  title?: string;
  starred?: boolean;
  archived?: boolean;
}

/** What a run is called: its title, or else its question. */
export const nameOf = ({ title, query }: Pick<RunHead, "title" | "query">): string => title ?? query;

/** Other pages receive the change with their event stream; this one need not wait for it. */
export async function organize(taskId: string, marks: Marks): Promise<void> {
  const run = await postJson<Organized>(`/api/runs/${taskId}/organize`, { ...marks });
  receive("runs", { runs: [run], list_changed: true });
}
