/** Links between the pages of the list. A cursor leads only forward; the way back is the browser's. */

import type { RunPage } from "../../wire.ts";
import { listPath, type RunsFilter } from "./list.ts";

export function RunsPaging({ page, filter }: { page: RunPage; filter: RunsFilter }) {
  if (filter.cursor === "" && page.next_cursor === undefined) return null;
  return (
    <nav class="row" aria-label="Pages">
      {filter.cursor === "" ? null : (
        <a class="button" href={listPath(filter, {})}>
          First page
        </a>
      )}
      {page.next_cursor === undefined ? null : (
        <a class="button" href={listPath(filter, { cursor: page.next_cursor })} rel="next">
          {filter.text === "" ? "Older" : "More"}
        </a>
      )}
    </nav>
  );
}
