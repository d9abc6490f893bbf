/** A share with its 95 % Wilson interval, which holds for few samples and for shares near 0 and 1. */

export function share(count: number, of: number): string {
  if (of === 0) return "none";
  const z = 1.96;
  const p = count / of;
  const middle = p + (z * z) / (2 * of);
  const width = z * Math.sqrt((p * (1 - p)) / of + (z * z) / (4 * of * of));
  const bound = (value: number): string => (Math.max(0, Math.min(1, value / (1 + (z * z) / of))) * 100).toFixed(1);
  return `${count} of ${of}, ${(p * 100).toFixed(1)} % (${bound(middle - width)}–${bound(middle + width)})`;
}
