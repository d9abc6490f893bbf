/** Handles jumps within a report: marks and focuses the target, and restores the focus on the way back. */

import { useEffect } from "preact/hooks";

const TARGET_ATTRIBUTE = "data-reached";

/** All ids are ASCII and need no decoding. */
const targetOf = (hash: string): HTMLElement | null => (hash === "" ? null : document.getElementById(hash.slice(1)));

function unmark(): void {
  for (const marked of document.querySelectorAll(`[${TARGET_ATTRIBUTE}]`)) marked.removeAttribute(TARGET_ATTRIBUTE);
}

function focusTarget(target: HTMLElement, { scroll }: { scroll: boolean }): void {
  unmark();
  target.setAttribute(TARGET_ATTRIBUTE, "");
  // Headings and sources are not in the tab order, but reading continues from there.
  if (target.tabIndex < 0) target.tabIndex = -1;
  target.focus({ preventScroll: true });
  if (scroll) target.scrollIntoView({ block: "start" });
}

export const scrollOf = (state: unknown): number | undefined =>
  typeof state === "object" && state !== null && "scroll" in state && typeof state.scroll === "number"
    ? state.scroll
    : undefined;

/** The id of the link that was followed, for the browser's back button. */
const followedLinkOf = (state: unknown): string | undefined =>
  typeof state === "object" && state !== null && "followedLink" in state && typeof state.followedLink === "string"
    ? state.followedLink
    : undefined;

function remember(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[href^='#'][id]") : null;
  if (link === null) return;
  history.replaceState({ scroll: scrollY, followedLink: link.id }, "");
}

function follow(): void {
  const target = targetOf(location.hash);
  if (target === null) unmark();
  else focusTarget(target, { scroll: false });
}

/** The browser restores the scroll position, and this restores the focus. */
function goBack(event: PopStateEvent): void {
  const id = followedLinkOf(event.state);
  const link = id === undefined ? null : document.getElementById(id);
  if (link !== null) setTimeout(() => focusTarget(link, { scroll: false }));
}

interface JumpOptions {
  /** The report is rendered; the URL may have a fragment that exists only now. */
  isLoaded: boolean;
  /** The scroll position of a reader who returns or reloads. */
  scroll: number | undefined;
}

export function useJumps({ isLoaded, scroll }: JumpOptions): void {
  useEffect(() => {
    if (!isLoaded) return undefined;
    const target = targetOf(location.hash);
    if (target !== null) focusTarget(target, { scroll: scroll === undefined });
    if (scroll !== undefined) scrollTo(0, scroll);
    document.addEventListener("click", remember);
    addEventListener("hashchange", follow);
    addEventListener("popstate", goBack);
    return () => {
      document.removeEventListener("click", remember);
      removeEventListener("hashchange", follow);
      removeEventListener("popstate", goBack);
    };
  }, [isLoaded]);
}
