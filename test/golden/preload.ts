/**
 * Loaded before each process of a scene: its time is the number in a file, which the scene advances; jitter is constant;
 * and with `GOLDEN_FULL_DISK` every write below that directory fails as on a full disk.
 */

import { readFileSync } from "node:fs";
import { failWritesIn } from "../disk/failing-writes.ts";

const file = process.env["GOLDEN_CLOCK_FILE"] ?? "";
const read = readFileSync;
const now = (): number => Number(read(file, "utf8"));

globalThis.Date = new Proxy(Date, {
  construct: (target, args: [number?]) => (args.length === 0 ? new target(now()) : Reflect.construct(target, args)),
  get: (target, name, receiver) => (name === "now" ? now : Reflect.get(target, name, receiver)),
});
Math.random = () => 0.5;

const fullDisk = process.env["GOLDEN_FULL_DISK"];
if (fullDisk !== undefined) failWritesIn(fullDisk).arm({ from: 1, count: Infinity, rolledBack: true });
