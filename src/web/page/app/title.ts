/** The title of the tab: how many runs are not finished, what is shown, and whose page it is. */

import { useEffect, useLayoutEffect } from "preact/hooks";

const NAME = "gemini-search-mcp";
const LONGEST = 80;

let shown = "";
let busy = 0;

export const titleOf = (view: string, unfinished: number): string => {
  const short = view.length > LONGEST ? `${view.slice(0, LONGEST - 1).trimEnd()}…` : view;
  return [unfinished > 0 ? `(${unfinished}) ` : "", short === "" ? "" : `${short} · `, NAME].join("");
};

const write = (): void => {
  document.title = titleOf(shown, busy);
};

/** What a view is called until it says more; views speak later, when they are drawn. */
export function useViewTitle(view: string): void {
  useLayoutEffect(() => {
    shown = view;
    write();
  }, [view]);
}

export function useTitle(view: string): void {
  useEffect(() => {
    shown = view;
    write();
  }, [view]);
}

export function useTitleCount(unfinished: number): void {
  useEffect(() => {
    busy = unfinished;
    write();
  }, [unfinished]);
}
