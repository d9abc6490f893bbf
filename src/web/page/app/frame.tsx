/** What stands around every view: the name, the ways, how it looks, and whether the server is there. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { fetchOwn, goToSignIn } from "./request.ts";
import { HelpDialog } from "./help-dialog.tsx";
import { useConnection } from "../live/live.ts";
import { announce, ANNOUNCEMENTS } from "../ui/parts.tsx";
import { type Place, viewKey } from "./router.ts";
import { useShortcuts } from "./shortcuts.ts";
import { unfinished, useTally, useTallying } from "../figures/tally.ts";
import { ThemeChoice } from "./theme.tsx";
import { useTitleCount, useViewTitle } from "./title.ts";

const WAYS: { path: string; view: Place["view"]; name: string }[] = [
  { path: "/", view: "runs", name: "Runs" },
  { path: "/start", view: "start", name: "Start research" },
  { path: "/figures", view: "figures", name: "Figures" },
];

const TITLES: Record<Place["view"], string> = {
  runs: "Runs",
  start: "Start research",
  run: "Run",
  figures: "Figures",
  nowhere: "Not found",
};

export function Frame({ place, children }: { place: Place; children: ComponentChildren }) {
  const [helping, setHelping] = useState(false);
  const tally = useTally();
  useTallying();
  useShortcuts(() => setHelping(true));
  useViewTitle(TITLES[place.view]);
  useTitleCount(tally === undefined ? 0 : unfinished(tally));
  useFocusOnArrival(viewKey(place));
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href="/" aria-label="gemini-search-mcp, runs">
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <circle cx="10.5" cy="10.5" r="6.5" />
            <path d="m15.5 15.5 5 5M10.5 7.5v6M7.5 10.5h6" />
          </svg>
          <span>gemini-search-mcp</span>
        </a>
        <nav aria-label="Views">
          {WAYS.map(({ path, view, name }) => (
            <a key={path} href={path} aria-current={view === place.view ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <Presence />
        <div class="tools">
          <ThemeChoice />
          <button
            type="button"
            class="button plain"
            aria-label="Keyboard shortcuts and help"
            title="Keyboard shortcuts (?)"
            onClick={() => setHelping(true)}
          >
            <kbd aria-hidden="true">?</kbd>
          </button>
          <button type="button" class="button plain small" onClick={() => void signOut()}>
            Sign out
          </button>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <div id={ANNOUNCEMENTS} class="unseen" role="status" aria-live="polite" />
      {helping ? <HelpDialog onClose={() => setHelping(false)} /> : null}
    </>
  );
}

async function signOut(): Promise<void> {
  const answer = await fetchOwn("/sign-out", { method: "POST" }).catch(() => undefined);
  // A browser that is signed out already gets 401.
  if (answer?.ok === true || answer?.status === 401) goToSignIn();
  else announce("Signing out did not work. Try again when the server answers.");
}

/** A stream that is cut and back within this time is not worth a word. */
const AWAY_AFTER_MS = 1_500;

function Presence() {
  const connection = useConnection({});
  const [away, setAway] = useState(false);
  const refusal = typeof connection === "object" ? connection.refused : undefined;
  const isLost = connection === "away" || refusal !== undefined;
  useEffect(() => {
    if (isLost) {
      const timer = setTimeout(() => {
        setAway(true);
        announce(refusal === undefined ? "The server does not answer. Reconnecting." : `No live updates. ${refusal}`);
      }, AWAY_AFTER_MS);
      return () => clearTimeout(timer);
    }
    setAway((was) => {
      if (was) announce("The server is back.");
      return false;
    });
    return undefined;
  }, [isLost, refusal]);
  if (!away) return null;
  if (refusal !== undefined) {
    return (
      <span class="away" title="No live updates until then. The page tries again by itself.">
        {refusal}
      </span>
    );
  }
  return (
    <span class="away" title="The server does not answer. The page goes on by itself when it is back.">
      Reconnecting…
    </span>
  );
}

/** Whoever came by keyboard or by ear goes on at the heading; a view that took the focus itself keeps it. */
function useFocusOnArrival(key: string): void {
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
