/** Maps URLs to views. Views have real URLs, so that reload, back, and links to a run work. */

import { useEffect, useLayoutEffect, useState } from "preact/hooks";

export type Route =
  | { view: "home"; filter: URLSearchParams }
  | { view: "run"; taskId: string; isAlone: boolean }
  | { view: "changes"; taskId: string }
  | { view: "costs"; filter: URLSearchParams }
  | { view: "schedules"; filter: URLSearchParams }
  | { view: "notifications" }
  | { view: "not-found" };

/** What changed since an earlier report of the same question. */
export const changesPath = (taskId: string): string => `${runPath(taskId)}/changes`;

export const SCHEDULES_PATH = "/schedules";

export const runPath = (taskId: string): string => `/runs/${taskId}`;

/** A follow-up with its actions and details, outside the page of its conversation. */
export const alonePath = (taskId: string): string => `${runPath(taskId)}?alone`;

/** A follow-up in the page of its conversation. */
export const turnPath = (rootId: string, taskId: string): string => `${runPath(rootId)}#${turnId(taskId)}`;

export const turnId = (taskId: string): string => `turn-${taskId}`;

export function routeOf({ pathname, search }: Pick<URL, "pathname" | "search">): Route {
  if (pathname === "/") return { view: "home", filter: new URLSearchParams(search) };
  if (pathname === SCHEDULES_PATH) return { view: "schedules", filter: new URLSearchParams(search) };
  if (pathname === "/costs") return { view: "costs", filter: new URLSearchParams(search) };
  if (pathname === "/notifications") return { view: "notifications" };
  const [, taskId, changes] = /^\/runs\/([0-9a-f-]{36})(\/changes)?$/.exec(pathname) ?? [];
  if (taskId === undefined) return { view: "not-found" };
  if (changes !== undefined) return { view: "changes", taskId };
  return { view: "run", taskId, isAlone: new URLSearchParams(search).has("alone") };
}

/** Identifies a view; filters and anchors within it do not change the key. */
export function viewKey(route: Route): string {
  if (route.view === "home") return `home ${route.filter.get("cursor") ?? ""}`;
  if (route.view === "run") return `run ${route.taskId} ${route.isAlone}`;
  return "taskId" in route ? `${route.view} ${route.taskId}` : route.view;
}

const NAVIGATED = "navigated";

/** Opens another view without reloading the page. */
export function go(path: string, { replace = false } = {}): void {
  if (replace) history.replaceState(history.state, "", path);
  else {
    rememberScroll();
    history.pushState(null, "", path);
  }
  dispatchEvent(new Event(NAVIGATED));
  if (!replace && location.hash === "") scrollTo(0, 0);
}

/** Stores the scroll position in the current history entry. */
const rememberScroll = (): void => history.replaceState({ scroll: scrollY }, "");

/** The scroll position in a history entry. */
export const scrollOf = (state: unknown): number | undefined =>
  typeof state === "object" && state !== null && "scroll" in state && typeof state.scroll === "number"
    ? state.scroll
    : undefined;

function scrollBack(): void {
  const scroll = scrollOf(history.state);
  if (scroll !== undefined) scrollTo(0, scroll);
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location));
  const [returned, setReturned] = useState(0);
  useEffect(() => {
    const update = (): void => setRoute(routeOf(location));
    const back = (): void => {
      update();
      setReturned((times) => times + 1);
    };
    // The browser would scroll before the view is rendered.
    history.scrollRestoration = "manual";
    addEventListener("popstate", back);
    addEventListener(NAVIGATED, update);
    addEventListener("scrollend", rememberScroll);
    scrollBack();
    return () => {
      removeEventListener("popstate", back);
      removeEventListener(NAVIGATED, update);
      removeEventListener("scrollend", rememberScroll);
    };
  }, []);
  useLayoutEffect(() => {
    if (returned > 0) scrollBack();
  }, [returned]);
  return route;
}

/** One listener for all links: links to views are handled here, all others by the browser. */
export function followLinks(): void {
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || link.origin !== location.origin || link.target !== "" || link.hasAttribute("download")) return;
    // An anchor on the current page is left to the browser.
    if (link.hash !== "" && link.pathname === location.pathname) return;
    if (routeOf(link).view === "not-found") return;
    event.preventDefault();
    go(link.pathname + link.search + link.hash);
  });
}
