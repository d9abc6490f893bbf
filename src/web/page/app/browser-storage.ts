/** What the browser keeps for this page. A browser that keeps nothing is no reason to fail. */

export function remembered(store: "localStorage" | "sessionStorage", key: string): string | undefined {
  try {
    return globalThis[store].getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

export function remember(store: "localStorage" | "sessionStorage", key: string, value: string | undefined): void {
  try {
    if (value === undefined) globalThis[store].removeItem(key);
    else globalThis[store].setItem(key, value);
  } catch {
    // Full or forbidden.
  }
}
