/** Formats how much a run has searched and found. The dashboard bundles it. */

/** "12 searches · 34 sites"; undefined before the first of them. */
export function activityCounts({ searches, sites }: { searches: number; sites: number }): string | undefined {
  const counted = [counts(searches, "search", "searches"), counts(sites, "site", "sites")].filter(
    (text) => text !== "",
  );
  return counted.length === 0 ? undefined : counted.join(" · ");
}

const counts = (count: number, one: string, many: string): string =>
  count === 0 ? "" : `${count} ${count === 1 ? one : many}`;
