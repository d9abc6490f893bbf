/** Shifts the wall clock of a program by the milliseconds in a file. Loaded before the program with `node --import`. */

import { readFileSync } from "node:fs";

const file = process.env["TEST_CLOCK_SHIFT_FILE"] ?? "";
const RealDate = Date;
const realNow = Date.now.bind(Date);
/** Short enough to notice a jump at once, long enough to cost nothing. */
const READ_EVERY_MS = 5;
let readAt = 0;
let shift = 0;

function now(): number {
  const real = realNow();
  if (real - readAt >= READ_EVERY_MS) {
    readAt = real;
    try {
      shift = Number(readFileSync(file, "utf8"));
    } catch {
      // The file does not exist before the first jump.
    }
  }
  return real + shift;
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: [number?]) => (args.length === 0 ? new target(now()) : Reflect.construct(target, args)),
  get: (target, name, receiver) => (name === "now" ? now : Reflect.get(target, name, receiver)),
});
