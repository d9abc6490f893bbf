/**
 * A short version of the lab experiment soak: too short for memory, but long enough for open files, children and the
 * WAL.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { seeded } from "../kit/kills/world.ts";
import { MEMBERS, openSoakWorld } from "./soak-world.ts";
import { beginLoad } from "./load.ts";
import { growthInSecondHalf, slopeOf } from "./trend.ts";

const saw = (climb: number): number[] => Array.from({ length: 200 }, (_, n) => 100 + (n % 10) + n * climb);

test("a rising sawtooth is growth, a level one is noise", () => {
  const steady = growthInSecondHalf(saw(0));
  expect(steady.by).toBeLessThanOrEqual(steady.noise);
  const climbing = growthInSecondHalf(saw(0.5));
  expect(climbing.by).toBeGreaterThan(climbing.noise);
  expect(slopeOf(saw(0.5).map((y, x) => ({ x, y })))).toBeCloseTo(0.5, 1);
});

test("three processes under load leave no child behind and keep the database whole (T6)", async () => {
  const world = await openSoakWorld({ seed: 1 });
  onTestFinished(world.close);
  const load = beginLoad({ callers: world.callers, lanes: 4, perSecond: 40, random: seeded(1) });
  while (load.done() < 250) await sleep(100);
  await load.stop();
  for (const member of MEMBERS) {
    await world.read(member, 0);
    await sleep(500);
    expect(await world.read(member, 0)).toMatchObject({ zombies: 0 });
  }
  expect(world.walSize()).toBeLessThan(17);
  expect(
    [...load.errors.keys()].filter((name) => !/RESEARCH_(?:NOT_COMPLETED|ALREADY_COMPLETED|FAILED)$/.test(name)),
  ).toEqual([]);
  expect(await world.shutDown()).toEqual([0, 0, 0]);
  expect(world.integrity()).toBe("ok");
});
