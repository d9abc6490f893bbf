/** Loads the code of a view on first use, so that the list of runs loads faster. */

import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem } from "../ui/parts.tsx";
import { fetchJson, RefusedError, UNREACHABLE } from "./request.ts";

type View<Props extends object> = (props: Props) => ComponentChild;

export function lazyView<Props extends object = object>(load: () => Promise<View<Props>>): View<Props> {
  let loaded: View<Props> | undefined;
  return function LazyView(props) {
    const [Loaded, setLoaded] = useState(() => loaded);
    const [isAway, setAway] = useState(false);
    useEffect(() => {
      if (loaded !== undefined) return;
      load().then(
        (view) => {
          loaded = view;
          setLoaded(() => view);
        },
        () => setAway(true),
      );
    }, []);
    useEffect(() => (isAway ? reloadWhenServed() : undefined), [isAway]);
    if (Loaded !== undefined) return <Loaded {...props} />;
    return isAway ? <Problem error={new RefusedError(UNREACHABLE)} /> : <p class="quiet soon">Loading…</p>;
  };
}

const RETRY_MS = 2_000;
/** If a view cannot be loaded at all, the page is not reloaded more often than this. */
const MIN_AGE_MS = 5_000;

/**
 * A browser keeps a failed import for as long as the page is open, so only a new page can load it: when the server is
 * back, or at once after an update of the server, whose files have new names. Returns a function that stops waiting.
 */
function reloadWhenServed(): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const wait = (): void => {
    timer = setTimeout(
      () => {
        fetchJson("/api/runs?limit=1").then(() => location.reload(), wait);
      },
      Math.max(RETRY_MS, MIN_AGE_MS - performance.now()),
    );
  };
  wait();
  return () => clearTimeout(timer);
}
