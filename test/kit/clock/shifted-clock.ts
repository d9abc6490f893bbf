/** Loaded before a program (`node --import`): its wall clock is ahead of the machine's by what a file says. */

import { readFileSync } from "node:fs";

const file = process.env["TEST_CLOCK_SHIFT_FILE"] ?? "";
const RealDate = Date;
const realNow = Date.now.bind(Date);
/** Often enough that a jump is seen at once, seldom enough to cost nothing. */
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
      // Nobody has moved it yet.
    }
  }
  return real + shift;
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: [number?]) => (args.length === 0 ? new target(now()) : Reflect.construct(target, args)),
  get: (target, name, receiver) => (name === "now" ? now : Reflect.get(target, name, receiver)),
});
