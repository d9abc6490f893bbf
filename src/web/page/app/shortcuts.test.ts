import { expect, test } from "vitest";
import { readKey, type Shortcut, SHORTCUTS } from "./shortcuts.ts";

const typed = (...keys: string[]): (Shortcut | undefined)[] => {
  let pending = "";
  return keys.map((key) => {
    const read = readKey(pending, key);
    ({ pending } = read);
    return read.action;
  });
};

test("every shortcut that the help shows does what it says", () => {
  for (const { keys, action } of SHORTCUTS) expect(typed(...keys.split(" ")).at(-1), keys).toBe(action);
});

test("a key that does not continue a sequence counts on its own", () => {
  expect(typed("g", "n")).toEqual([undefined, "start"]);
  expect(typed("g", "g", "r")).toEqual([undefined, undefined, "runs"]);
  expect(typed("g", "x", "r")).toEqual([undefined, undefined, undefined]);
});

test("no shortcut is the prefix of another", () => {
  for (const { keys } of SHORTCUTS) {
    expect(SHORTCUTS.filter((other) => other.keys.startsWith(`${keys} `))).toEqual([]);
  }
});
