import { expect, test } from "vitest";
import { onBusyMachine, processorMs } from "../../test/kit/clock/time-limits.ts";
import { createJsonRepair } from "./repair-json.ts";

/** Without a limit, 20,000 characters of it take minutes. */
const slowText = (length: number): string => `[{"a":"${'"a '.repeat(length / 3)}}`;

test("a long list that was cut is repaired (D2)", () => {
  const rows = Array.from({ length: 2_000 }, (_unused, n) => ({ name: `Row ${n}`, text: "x".repeat(80) }));
  const whole = JSON.stringify(rows);
  expect(whole.length).toBeGreaterThan(200_000);
  // The limit is elapsed time, which a busy machine multiplies.
  const repair = createJsonRepair(10_000);
  expect(JSON.parse(repair(whole.slice(0, -1)))).toEqual(rows);
});

test("texts that the library would repair for minutes are given up in a moment, all together (D4, T15)", () => {
  const repair = createJsonRepair();
  const spentMs = processorMs(() => {
    for (let n = 0; n < 20; n += 1) expect(() => repair(slowText(20_000 + n))).toThrow();
  });
  expect(spentMs).toBeLessThan(onBusyMachine(250));
  expect(() => repair("[1")).toThrow("used up");
  expect(createJsonRepair()("[1")).toBe("[1]");
});
