/** The title of the browser tab: number of unfinished runs, name of the view, and name of the product. */

import { useEffect, useLayoutEffect } from "preact/hooks";

const NAME = "gemini-search-mcp";
const MAX_TITLE_CHARACTERS = 80;

let shown = "";
let busy = 0;

export const titleOf = (view: string, unfinished: number): string => {
  const short = view.length > MAX_TITLE_CHARACTERS ? `${view.slice(0, MAX_TITLE_CHARACTERS - 1).trimEnd()}…` : view;
  return [unfinished > 0 ? `(${unfinished}) ` : "", short === "" ? "" : `${short} · `, NAME].join("");
};

const write = (): void => {
  document.title = titleOf(shown, busy);
};

/** The default title of a view. A layout effect, so that a view's own `useTitle` runs later and replaces it. */
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
