/** Reads and writes the browser's storage; errors are ignored. */

export function readStored(store: "localStorage" | "sessionStorage", key: string): string | undefined {
  try {
    return globalThis[store].getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

export function writeStored(store: "localStorage" | "sessionStorage", key: string, value: string | undefined): void {
  try {
    if (value === undefined) globalThis[store].removeItem(key);
    else globalThis[store].setItem(key, value);
  } catch {
    // The storage is full or not allowed.
  }
}
