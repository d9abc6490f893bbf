/** A view whose code is loaded when it is first shown. */

import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { Problem, ReloadButton, useLoad } from "../ui/parts.tsx";
import { fetchJson, RefusedError, SERVER_BACK } from "./request.ts";

type Load<Props> = () => Promise<ComponentType<Props>>;

/** Views that are loaded, which are shown at once. */
const loaded = new WeakMap<object, unknown>();

/** Loads a view before it is shown. If that fails, it is loaded when it is shown. */
export function preload<Props>(load: Load<Props>): void {
  void loadView(load).catch(() => undefined);
}

async function loadView<Props>(load: Load<Props>): Promise<ComponentType<Props>> {
  const view = await load();
  loaded.set(load, view);
  return view;
}

export function LazyView<Props extends object>({ load, ...props }: Props & { load: Load<Props> }) {
  const { value, error } = useLoad("view", () => loadView(load).catch(whyMissing));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `loadView` stores what this loads
  const View = value ?? (loaded.get(load) as ComponentType<Props> | undefined);
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
