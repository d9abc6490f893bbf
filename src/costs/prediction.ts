/**
 * Predicts what the next run takes, as an interval, from earlier runs and a published range.
 *
 * The logarithms of the values are taken as normal, with an unknown centre and spread. The published range is the prior:
 * without runs it is the prediction. The prediction is then Student's t (a normal-inverse-gamma model), so that few runs
 * give a wide interval and many runs one that is theirs alone. `npm run bench -- estimates` replays real and simulated
 * histories and prints how often the interval held.
 */

export interface Bounds {
  min: number;
  max: number;
}

export interface Range extends Bounds {
  likely: number;
}

/** Four in five values are expected within a range, one in ten below and one in ten above it. */
export const COVERAGE = 0.8;
/** The quantile of the standard normal distribution that leaves one value in ten above it. */
const TENTH = 1.2815515655446004;

/** How many runs the published range counts for: in the centre of the prediction, and in its spread. */
const PUBLISHED_RUNS = { centre: 1, spread: 4 };

export function predict(published: Bounds, values: readonly number[]): Range {
  const { centre: prior, spread } = PUBLISHED_RUNS;
  const middle = (Math.log(published.min) + Math.log(published.max)) / 2;
  const priorScale = (Math.log(published.max) - middle) / studentTenth(spread);
  const priorVariance = priorScale ** 2 / (1 + 1 / prior);

  const deviations = values.map((value) => Math.log(value) - middle);
  const runs = deviations.length;
  const weight = prior + runs;
  const mean = runs === 0 ? 0 : deviations.reduce((sum, one) => sum + one, 0) / runs;
  const squares = deviations.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  const freedom = spread + runs;
  const variance = (spread * priorVariance + squares + ((prior * runs) / weight) * mean ** 2) / freedom;

  const centre = middle + (runs * mean) / weight;
  const reach = studentTenth(freedom) * Math.sqrt(variance * (1 + 1 / weight));
  return { min: Math.exp(centre - reach), likely: Math.exp(centre), max: Math.exp(centre + reach) };
}

/** The value that Student's t exceeds in one case of ten (Abramowitz and Stegun 26.7.5; within 0.1 % from 3 degrees). */
function studentTenth(freedom: number): number {
  const z = TENTH;
  const terms = [
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
    (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92_160,
  ];
  return terms.reduce((sum, term, index) => sum + term / freedom ** (index + 1), z);
}

/**
 * The range of a value that is known to be above `floor`: what is left of the distribution, taken as log-logistic, whose
 * quantiles have a closed form. It begins at the floor, where the value is if nothing is added any more.
 */
export function atLeast({ min, likely, max }: Range, floor: number): Range {
  if (min >= max) return { min: Math.max(min, floor), likely: Math.max(likely, floor), max: Math.max(max, floor) };
  const upper = (1 + COVERAGE) / 2;
  const scale = Math.log(max / min) / 2 / logit(upper);
  // Below 1, however narrow the range is: at 1 nothing would be left.
  const ruledOut = Math.min(1 / (1 + (likely / floor) ** (1 / scale)), 1 - 1e-9);
  const quantile = (share: number): number => likely * Math.exp(scale * logit(ruledOut + share * (1 - ruledOut)));
  return { min: Math.max(min, floor), likely: quantile(0.5), max: quantile(upper) };
}

const logit = (share: number): number => Math.log(share / (1 - share));

/** More digits would suggest a precision that no estimate has. */
export const rounded = ({ min, likely, max }: Range): Range => ({
  min: Number(min.toPrecision(2)),
  likely: Number(likely.toPrecision(2)),
  max: Number(max.toPrecision(2)),
});
