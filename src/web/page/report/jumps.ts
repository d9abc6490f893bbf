/** Handles jumps within a report: marks and focuses the target, and restores the focus on the way back. */

import { useEffect, useRef } from "preact/hooks";

const TARGET_ATTRIBUTE = "data-reached";

/** All ids are ASCII and need no decoding. */
export const targetOf = (hash: string): HTMLElement | null =>
  hash === "" ? null : document.getElementById(hash.slice(1));

function unmark(): void {
  for (const marked of document.querySelectorAll(`[${TARGET_ATTRIBUTE}]`)) marked.removeAttribute(TARGET_ATTRIBUTE);
}

export function focusTarget(target: HTMLElement, { scroll }: { scroll: boolean }): void {
  unmark();
  target.closest("details")?.setAttribute("open", "");
  target.setAttribute(TARGET_ATTRIBUTE, "");
  // Headings and sources are not in the tab order, but reading continues from there.
  if (target.tabIndex < 0) target.tabIndex = -1;
  target.focus({ preventScroll: true });
  const panel = panelOf(target);
  if (panel !== undefined) scrollPanel(panel, target);
  else if (scroll) target.scrollIntoView({ block: "start" });
}

/** The list of sources, while it is beside the text. */
function panelOf(target: Element): HTMLElement | undefined {
  const panel = target.closest<HTMLElement>(".report-side .sources");
  return panel === null || panel.scrollHeight <= panel.clientHeight ? undefined : panel;
}

const isBeside = (target: Element): boolean => target.closest(".report-side") !== null;

/** Into its upper third; the page stays where it is read. */
function scrollPanel(panel: HTMLElement, target: Element): void {
  const offset = target.getBoundingClientRect().top - panel.getBoundingClientRect().top;
  panel.scrollTop += offset - panel.clientHeight / 3;
}

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

/** A source that is beside the text is shown there: the browser would scroll the page, and lose the place. */
function showBeside(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const link =
    event.target instanceof Element
      ? event.target.closest<HTMLAnchorElement>("a[href^='#source-'], a[href='#conflicts']")
      : null;
  const target = link === null ? null : targetOf(link.hash);
  if (link === null || target === null || !isBeside(target)) return;
  event.preventDefault();
  if (location.hash !== link.hash) history.pushState({ scroll: scrollY }, "", link.hash);
  focusTarget(target, { scroll: false });
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
  /** All parts of a long report are rendered. */
  isComplete: boolean;
  /** The scroll position of a reader who returns or reloads. */
  scroll: number | undefined;
}

export function useJumps({ isLoaded, isComplete, scroll }: JumpOptions): void {
  /** The position is in a part that is still missing. */
  const isWaiting = useRef(false);
  useEffect(() => {
    if (!isComplete || !isWaiting.current) return;
    const target = targetOf(location.hash);
    if (scroll !== undefined) scrollTo(0, scroll);
    else if (target !== null) focusTarget(target, { scroll: true });
  }, [isComplete]);
  useEffect(() => {
    if (!isLoaded) return undefined;
    const target = targetOf(location.hash);
    if (target !== null) focusTarget(target, { scroll: scroll === undefined });
    if (scroll !== undefined) scrollTo(0, scroll);
    isWaiting.current = scroll === undefined ? target === null && location.hash !== "" : scrollY < scroll - 1;
    document.addEventListener("click", remember);
    document.addEventListener("click", showBeside);
    addEventListener("hashchange", follow);
    addEventListener("popstate", goBack);
    return () => {
      document.removeEventListener("click", remember);
      document.removeEventListener("click", showBeside);
      removeEventListener("hashchange", follow);
      removeEventListener("popstate", goBack);
    };
  }, [isLoaded]);
}
