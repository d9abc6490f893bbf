/** A share with its 95 % Wilson interval, which holds for few samples and for shares near 0 and 1. */

import { wilson } from "./statistics.ts";

export function share(count: number, of: number): string {
  if (of === 0) return "none";
  const percent = (value: number): string => (value * 100).toFixed(1);
  const [low, high] = wilson(count, of);
  return `${count} of ${of}, ${percent(count / of)} % (${percent(low)}–${percent(high)})`;
}
