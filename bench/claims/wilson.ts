/** Shares with their Wilson intervals of 95 %. */

const Z = 1.96;

export function wilson(hits: number, of: number): { low: number; high: number } {
  if (of === 0) return { low: 0, high: 1 };
  const share = hits / of;
  const middle = (share + Z ** 2 / (2 * of)) / (1 + Z ** 2 / of);
  const half = (Z * Math.sqrt((share * (1 - share)) / of + Z ** 2 / (4 * of ** 2))) / (1 + Z ** 2 / of);
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

export function shareOf(hits: number, of: number): string {
  if (of === 0) return "–";
  const { low, high } = wilson(hits, of);
  const percent = (share: number): string => (share * 100).toFixed(1);
  return `${hits}/${of} = ${percent(hits / of)} % (${percent(low)}–${percent(high)})`;
}
