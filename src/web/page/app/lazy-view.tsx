/** Loads the code of a view on first use, so that the list of runs loads faster. */

import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem } from "../ui/parts.tsx";

type View<Props> = (props: Props) => ComponentChild;

export function lazyView<Props extends object>(load: () => Promise<View<Props>>): View<Props> {
  let loaded: View<Props> | undefined;
  return function LazyView(props) {
    const [Loaded, setLoaded] = useState(() => loaded);
    const [error, setError] = useState<unknown>(undefined);
    useEffect(() => {
      if (loaded !== undefined) return;
      load().then((view) => {
        loaded = view;
        setLoaded(() => view);
      }, setError);
    }, []);
    if (Loaded !== undefined) return <Loaded {...props} />;
    // Also after an update of the server, whose files have new names.
    return error === undefined ? <p class="quiet soon">Loading…</p> : <Problem error={error} />;
  };
}
