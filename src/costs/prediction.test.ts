import fc from "fast-check";
import { expect, test } from "vitest";
import { atLeast, predict } from "./prediction.ts";

const cost = fc.double({ min: 0.01, max: 1_000, noNaN: true });

test("without runs the prediction is the published range (M2)", () => {
  const { min, likely, max } = predict({ min: 1, max: 4 }, []);
  expect([min, likely, max]).toEqual([expect.closeTo(1, 3), expect.closeTo(2, 10), expect.closeTo(4, 2)]);
});

test("many runs outweigh the published range (M2)", () => {
  // Deviations of e^±0.5: the standard deviation of the logarithm is 0.5, so four in five are within e^±0.64.
  const runs = Array.from({ length: 2_000 }, (_, index) => 20 * Math.exp(index % 2 === 0 ? 0.5 : -0.5));
  const { min, likely, max } = predict({ min: 1, max: 3 }, runs);
  expect(likely).toBeCloseTo(20, 0);
  expect(Math.log(max / min) / 2).toBeCloseTo(0.64, 1);
});

test("a prediction is ordered and positive, whatever the runs (M2)", () => {
  fc.assert(
    fc.property(fc.array(cost, { maxLength: 50 }), fc.tuple(cost, cost), (runs, [one, other]) => {
      const { min, likely, max } = predict({ min: Math.min(one, other), max: Math.max(one, other) }, runs);
      expect(min).toBeGreaterThan(0);
      expect(likely).toBeGreaterThanOrEqual(min);
      expect(max).toBeGreaterThanOrEqual(likely);
    }),
  );
});

test("what a value is known to exceed raises its range and narrows it, and keeps its order (M2)", () => {
  const range = { min: 1, likely: 2, max: 4 };
  const low = atLeast(range, 0.1);
  expect(low.min).toBe(1);
  expect(low.likely).toBeCloseTo(2, 2);
  expect(low.max).toBeCloseTo(4, 2);
  fc.assert(
    fc.property(cost, cost, (one, other) => {
      const [less, more] = [Math.min(one, other), Math.max(one, other)];
      const [first, second] = [atLeast(range, less), atLeast(range, more)];
      expect(second.min).toBeGreaterThanOrEqual(more);
      for (const bound of ["min", "likely", "max"] as const)
        expect(second[bound]).toBeGreaterThanOrEqual(first[bound] - 1e-9);
      expect(second.min <= second.likely && second.likely <= second.max).toBe(true);
    }),
  );
  expect(atLeast({ min: 2, likely: 2, max: 2 }, 3)).toEqual({ min: 3, likely: 3, max: 3 });
  const late = atLeast(range, 3);
  expect(late.max / late.min).toBeLessThan(2.5);
});
