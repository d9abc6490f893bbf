/** Which view an address shows. Real addresses, so that reload, back, and links to a run work as everywhere. */

import { useEffect, useLayoutEffect, useState } from "preact/hooks";

export type Place =
  | { view: "runs"; filter: URLSearchParams }
  | { view: "start" }
  | { view: "run"; taskId: string }
  | { view: "figures" }
  | { view: "nowhere" };

export const runPath = (taskId: string): string => `/runs/${taskId}`;

export function placeOf({ pathname, search }: Pick<URL, "pathname" | "search">): Place {
  if (pathname === "/") return { view: "runs", filter: new URLSearchParams(search) };
  if (pathname === "/start") return { view: "start" };
  if (pathname === "/figures") return { view: "figures" };
  const taskId = /^\/runs\/([0-9a-f-]{36})$/.exec(pathname)?.[1];
  return taskId === undefined ? { view: "nowhere" } : { view: "run", taskId };
}

/** The same for all that one view shows: filters and places within it are no other view. */
export const viewKey = (place: Place): string => (place.view === "run" ? `run ${place.taskId}` : place.view);

const MOVED = "moved";

/** Goes to another view without loading the page again. */
export function go(path: string, { replace = false } = {}): void {
  if (replace) history.replaceState(history.state, "", path);
  else {
    rememberScroll();
    history.pushState(null, "", path);
  }
  dispatchEvent(new Event(MOVED));
  if (!replace && location.hash === "") scrollTo(0, 0);
}

/** Where the reader was on this entry of the history, for when it is gone back to. */
const rememberScroll = (): void => history.replaceState({ scroll: scrollY }, "");

function scrollBack(): void {
  const state: unknown = history.state;
  if (typeof state !== "object" || state === null || !("scroll" in state)) return;
  if (typeof state.scroll === "number") scrollTo(0, state.scroll);
}

export function usePlace(): Place {
  const [place, setPlace] = useState(() => placeOf(location));
  const [returned, setReturned] = useState(0);
  useEffect(() => {
    const look = (): void => setPlace(placeOf(location));
    const back = (): void => {
      look();
      setReturned((times) => times + 1);
    };
    // The browser would scroll before the view is drawn.
    history.scrollRestoration = "manual";
    addEventListener("popstate", back);
    addEventListener(MOVED, look);
    addEventListener("scrollend", rememberScroll);
    scrollBack();
    return () => {
      removeEventListener("popstate", back);
      removeEventListener(MOVED, look);
      removeEventListener("scrollend", rememberScroll);
    };
  }, []);
  useLayoutEffect(() => {
    if (returned > 0) scrollBack();
  }, [returned]);
  return place;
}

/** One listener for all links: those to views of ours are followed here, all others by the browser. */
export function followLinks(): void {
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || link.origin !== location.origin || link.target !== "" || link.hasAttribute("download")) return;
    // A place on this very page is the browser's business.
    if (link.hash !== "" && link.pathname === location.pathname) return;
    if (placeOf(link).view === "nowhere") return;
    event.preventDefault();
    go(link.pathname + link.search + link.hash);
  });
}
