/** Links between the pages of the list. A cursor leads only forward, so earlier cursors are stored. */

import { useEffect, useRef } from "preact/hooks";
import type { RunPage } from "../../wire.ts";
import { announce } from "../ui/parts.tsx";
import { writeStored, readStored } from "../app/browser-storage.ts";
import { listPath, PAGE_SIZE, type RunsFilter } from "./list.ts";

const cursorKey = (filter: RunsFilter, from: number): string => `cursor ${from} ${listPath(filter, {})}`;

export function RunsPaging({ page, filter }: { page: RunPage; filter: RunsFilter }) {
  const { from, cursor } = filter;
  useEffect(() => {
    if (cursor !== "") writeStored("sessionStorage", cursorKey(filter, from), cursor);
  }, [cursor, from]);
  useFocusOnPageChange(filter);
  if (from === 0 && page.next_cursor === undefined) return null;
  return (
    <nav class="row apart paging" aria-label="Pages">
      <span class="row">
        {from === 0 ? null : (
          <a class="button" href={newerPath(filter)} rel="prev">
            Newer
          </a>
        )}
        {page.next_cursor === undefined ? null : (
          <a class="button" href={listPath(filter, { cursor: page.next_cursor, from: from + PAGE_SIZE })} rel="next">
            {filter.text === "" ? "Older" : "More"}
          </a>
        )}
      </span>
      <span class="quiet">{range(page, filter)}</span>
    </nav>
  );
}

/** The links are at the end of the page, so the focus moves to the top of the new one. */
function useFocusOnPageChange(filter: RunsFilter): void {
  const before = useRef(filter);
  useEffect(() => {
    const turned = before.current.cursor !== filter.cursor && listPath(before.current, {}) === listPath(filter, {});
    before.current = filter;
    if (!turned) return;
    const heading = document.querySelector<HTMLElement>("h1");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
    announce(filter.from === 0 ? "First page" : `Runs from number ${filter.from + 1}`);
  }, [filter.cursor]);
}

/** The first page if the earlier cursor is unknown, for example after opening a link. */
function newerPath(filter: RunsFilter): string {
  const from = filter.from - PAGE_SIZE;
  const cursor = readStored("sessionStorage", cursorKey(filter, from));
  return from <= 0 || cursor === undefined ? listPath(filter, {}) : listPath(filter, { cursor, from });
}

function range({ runs, total }: RunPage, filter: RunsFilter): string {
  const { from } = filter;
  const shown = `${(from + 1).toLocaleString("en-US")}–${(from + runs.length).toLocaleString("en-US")}`;
  return listPath(filter, {}) === "/" ? `${shown} of ${total.toLocaleString("en-US")}` : shown;
}
