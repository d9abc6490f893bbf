/** One row of the results: a figure and its target. */

export interface Check {
  what: string;
  /** Undefined if the figure is only reported. */
  target: string | undefined;
  measured: string;
  met: boolean;
}

export const atMost = (what: string, limit: number, { value, unit }: { value: number; unit: string }): Check => ({
  what,
  target: `≤ ${limit} ${unit}`,
  measured: `${short(value)} ${unit}`,
  met: value <= limit,
});

export const atLeast = (what: string, limit: number, { value, unit }: { value: number; unit: string }): Check => ({
  what,
  target: `≥ ${limit} ${unit}`,
  measured: `${short(value)} ${unit}`,
  met: value >= limit,
});

export const reported = (what: string, measured: string): Check => ({ what, target: undefined, measured, met: true });

/** Three significant digits. */
export const short = (value: number): string =>
  Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
