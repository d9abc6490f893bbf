/** A view whose code is loaded when it is first shown. */

import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { Problem, ReloadButton, useLoad } from "../ui/parts.tsx";
import { fetchJson, RefusedError, SERVER_BACK } from "./request.ts";

type LazyProps<Props> = Props & { load: () => Promise<ComponentType<Props>> };

export function LazyView<Props extends object>({ load, ...props }: LazyProps<Props>) {
  const { value: View, error } = useLoad("view", () => load().catch(whyMissing));
  useEffect(() => {
    if (error === undefined) return undefined;
    // A browser does not ask again for a module that it did not get, and an updated server has other files.
    const reload = (): void => location.reload();
    addEventListener(SERVER_BACK, reload);
    return () => removeEventListener(SERVER_BACK, reload);
  }, [error]);
  if (View !== undefined) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is left of them are those of the view
    return <View {...(props as unknown as Props)} />;
  }
  return error === undefined ? (
    <p class="quiet">Loading…</p>
  ) : (
    <Problem error={error}>{isOutdated(error) ? <ReloadButton /> : null}</Problem>
  );
}

const OUTDATED = "PAGE_OUTDATED";

const isOutdated = (error: unknown): boolean => error instanceof RefusedError && error.code === OUTDATED;

/** Without a server, a reload would lead to the browser's own page about that. */
async function whyMissing(): Promise<never> {
  await fetchJson("/api/key");
  throw new RefusedError({
    success: false,
    error: { code: OUTDATED, message: "This page is of another version than the server." },
  });
}
