/** Reads and writes the browser's storage; errors are ignored. What a user has not sent yet is stored under their name. */

import { PAGE_USER_ITEM } from "../../wire.ts";

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

/** Undefined for the user of the server's machine. */
export const signedInUser = (): string | undefined => readStored("localStorage", PAGE_USER_ITEM);

/** Kept in this tab, also if the session expires; whoever else signs in here then does not get it. */
export const readKept = (name: string): string | undefined => readStored("sessionStorage", keptKey(name));

export const keep = (name: string, value: string | undefined): void =>
  writeStored("sessionStorage", keptKey(name), value);

const keptKey = (name: string): string => [name, signedInUser()].filter((part) => part !== undefined).join(" of ");

const SIGNED_OUT_ITEM = "signed-out";

/** When the user signs out: what is not sent is deleted in every tab, which a change of the storage reaches. */
export function forgetUser(): void {
  writeStored("localStorage", SIGNED_OUT_ITEM, "now");
  writeStored("localStorage", SIGNED_OUT_ITEM, undefined);
  writeStored("localStorage", PAGE_USER_ITEM, undefined);
  forgetKept();
}

function forgetKept(): void {
  try {
    sessionStorage.clear();
  } catch {
    // Not allowed, so there is nothing in it.
  }
}

/** What another tab shows would otherwise go on under the name of somebody else. */
export function reloadWhenUserChanges(): void {
  addEventListener("storage", ({ key }) => {
    if (key === SIGNED_OUT_ITEM) forgetKept();
    if (key === SIGNED_OUT_ITEM || key === PAGE_USER_ITEM) location.reload();
  });
}
