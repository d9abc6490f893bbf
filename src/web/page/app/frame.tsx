/** The frame of every view: name, navigation, title of the tab, and connection status. */

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { forgetUser, signedInUser } from "./browser-storage.ts";
import { fetchWithSecret, goToSignIn } from "./request.ts";
import { useLive } from "../live/live.ts";
import { announce, ANNOUNCEMENTS } from "../ui/parts.tsx";
import { type Route, SCHEDULES_PATH, viewKey } from "./router.ts";
import { useNotifications } from "../run/notify.tsx";

const NAVIGATION: { path: string; view: Route["view"]; name: string }[] = [
  { path: "/", view: "home", name: "Home" },
  { path: "/costs", view: "costs", name: "Costs" },
  { path: SCHEDULES_PATH, view: "schedules", name: "Schedules" },
  { path: "/notifications", view: "notifications", name: "Notifications" },
];

const TITLES: Record<Route["view"], string> = {
  home: "",
  run: "Research",
  changes: "What changed",
  costs: "Costs",
  schedules: "Schedules",
  notifications: "Notifications",
  "not-found": "Not found",
};

export function Frame({ route, children }: { route: Route; children: ComponentChildren }) {
  useNotifications();
  // A layout effect, so that the view's own title comes later and replaces it.
  useLayoutEffect(() => showTitle(TITLES[route.view]), [route.view]);
  useFocusOnNewView(viewKey(route));
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href="/" aria-label="gemini-search-mcp, home">
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <circle cx="10.5" cy="10.5" r="6.5" />
            <path d="m15.5 15.5 5 5M10.5 7.5v6M7.5 10.5h6" />
          </svg>
          <span>gemini-search-mcp</span>
        </a>
        <nav aria-label="Views">
          {NAVIGATION.map(({ path, view, name }) => (
            <a key={path} href={path} aria-current={view === route.view ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <ConnectionStatus />
        <div class="tools">
          <SignedInUser />
          <button type="button" class="button plain" onClick={() => void signOut()}>
            Sign out
          </button>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <div id={ANNOUNCEMENTS} class="unseen" role="status" aria-live="polite" />
    </>
  );
}

/** Begins the name of a user of an OAuth issuer, and would fill the little space. */
const ISSUER = /^oauth:[\da-f]{12}:/;

function SignedInUser() {
  const user = signedInUser();
  if (user === undefined) return null;
  return (
    <span class="user" title={`Signed in as ${user}`}>
      <span class="unseen">Signed in as </span>
      {user.replace(ISSUER, "")}
    </span>
  );
}

async function signOut(): Promise<void> {
  const response = await fetchWithSecret("/sign-out", { method: "POST" }).catch(() => undefined);
  // A browser that is already signed out gets 401.
  if (response?.ok === true || response?.status === 401) {
    forgetUser();
    // Not back to this view: the next user may be another one.
    goToSignIn("/");
  } else announce("Sign-out failed. Try again when the server responds.");
}

/** Shorter interruptions of the stream are not reported. */
const REPORT_AFTER_MS = 1_500;

function ConnectionStatus() {
  const connection = useLive({});
  const [isReported, setReported] = useState(false);
  const refusal = typeof connection === "object" ? connection.refused : undefined;
  const isLost = connection === "lost" || refusal !== undefined;
  useEffect(() => {
    if (isLost) {
      const timer = setTimeout(() => {
        setReported(true);
        announce(refusal === undefined ? "The server does not respond. Reconnecting." : `No live updates. ${refusal}`);
      }, REPORT_AFTER_MS);
      return () => clearTimeout(timer);
    }
    setReported((was) => {
      if (was) announce("The server is back.");
      return false;
    });
    return undefined;
  }, [isLost, refusal]);
  if (!isReported) return null;
  const problem = refusal === undefined ? "The server does not respond." : "No live updates.";
  return (
    <span class="away" title={`${problem} The page retries automatically.`}>
      {refusal ?? "Reconnecting…"}
    </span>
  );
}

/**
 * Moves the focus to the heading of a new view, for keyboard and screen reader users, unless the view set it itself.
 */
function useFocusOnNewView(key: string): void {
  const before = useRef(key);
  useEffect(() => {
    if (before.current === key) return;
    before.current = key;
    const content = document.querySelector<HTMLElement>("#content");
    if (content === null || (content !== document.activeElement && content.contains(document.activeElement))) return;
    const heading = content.querySelector<HTMLElement>("h1");
    heading?.setAttribute("tabindex", "-1");
    (heading ?? content).focus({ preventScroll: true });
  }, [key]);
}

const MAX_TITLE_CHARACTERS = 80;

export function showTitle(view: string): void {
  const short = view.length > MAX_TITLE_CHARACTERS ? `${view.slice(0, MAX_TITLE_CHARACTERS - 1).trimEnd()}…` : view;
  document.title = short === "" ? "gemini-search-mcp" : `${short} · gemini-search-mcp`;
}
