/** A view that is fetched when somebody goes there: whoever only looks at runs does not wait for the rest. */

import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem } from "../ui/parts.tsx";

type View = () => ComponentChild;

export function later(load: () => Promise<View>): View {
  let loaded: View | undefined;
  return function Later() {
    const [Shown, setShown] = useState(() => loaded);
    const [error, setError] = useState<unknown>(undefined);
    useEffect(() => {
      if (loaded !== undefined) return;
      load().then((view) => {
        loaded = view;
        setShown(() => view);
      }, setError);
    }, []);
    if (Shown !== undefined) return <Shown />;
    // Also after an update of the server, whose files have other names than those this page knows.
    return error === undefined ? <p class="quiet soon">Loading…</p> : <Problem error={error} />;
  };
}
