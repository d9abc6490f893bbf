/** Makes many calls with limited concurrency. */

export async function inLanes(
  calls: number,
  lanes: number,
  call: (n: number, lane: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (_: unknown, which: number): Promise<void> => {
    for (let n = next++; n < calls; n = next++) await call(n, which);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Distributes a list over more calls or lanes than it has entries. */
export function inTurn<T>(things: readonly T[], n: number): T {
  const thing = things[n % things.length];
  if (thing === undefined) throw new Error("There is nothing to take turns with.");
  return thing;
}
