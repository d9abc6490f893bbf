/** Jumps within a report: what is jumped to is marked and gets the focus, and the way back leads to where one was. */

import { useEffect } from "preact/hooks";

const MARK = "data-reached";

/** Every id that can be jumped to is plain ASCII and stands in an address as it is. */
const targetOf = (hash: string): HTMLElement | null => (hash === "" ? null : document.getElementById(hash.slice(1)));

function unmark(): void {
  for (const marked of document.querySelectorAll(`[${MARK}]`)) marked.removeAttribute(MARK);
}

function reach(target: HTMLElement, { scroll }: { scroll: boolean }): void {
  unmark();
  target.setAttribute(MARK, "");
  // Headings and sources are no stops of the Tab key, but the reading goes on from there.
  if (target.tabIndex < 0) target.tabIndex = -1;
  target.focus({ preventScroll: true });
  if (scroll) target.scrollIntoView({ block: "start" });
}

export const scrollOf = (state: unknown): number | undefined =>
  typeof state === "object" && state !== null && "scroll" in state && typeof state.scroll === "number"
    ? state.scroll
    : undefined;

/** Where the link stood that is followed, to be found again by the browser's back button. */
const leftFrom = (state: unknown): string | undefined =>
  typeof state === "object" && state !== null && "leftFrom" in state && typeof state.leftFrom === "string"
    ? state.leftFrom
    : undefined;

function remember(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[href^='#'][id]") : null;
  if (link === null) return;
  history.replaceState({ scroll: scrollY, leftFrom: link.id }, "");
}

function follow(): void {
  const target = targetOf(location.hash);
  if (target === null) unmark();
  else reach(target, { scroll: false });
}

/** Comes back to an address: the browser restores the scroll, we restore the focus. */
function goBack(event: PopStateEvent): void {
  const id = leftFrom(event.state);
  const link = id === undefined ? null : document.getElementById(id);
  if (link !== null) setTimeout(() => reach(link, { scroll: false }));
}

interface Arrival {
  /** The report stands on the page: an address may have asked for a place in it before that. */
  isThere: boolean;
  /** Where the reader was, who comes back or loads the page again. */
  scroll: number | undefined;
}

export function useJumps({ isThere, scroll }: Arrival): void {
  useEffect(() => {
    if (!isThere) return undefined;
    const target = targetOf(location.hash);
    if (target !== null) reach(target, { scroll: scroll === undefined });
    if (scroll !== undefined) scrollTo(0, scroll);
    document.addEventListener("click", remember);
    addEventListener("hashchange", follow);
    addEventListener("popstate", goBack);
    return () => {
      document.removeEventListener("click", remember);
      removeEventListener("hashchange", follow);
      removeEventListener("popstate", goBack);
    };
  }, [isThere]);
}
