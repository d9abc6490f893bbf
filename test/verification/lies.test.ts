/** A model that lies at a known rate: how many of its lies reach the final answer. Longer in `node bench/run.ts lies`. */

import { expect, test } from "vitest";
import { LIE_SETTINGS, type LieFigures, measureLies, type Share } from "../kit/lies/measure.ts";

const settings = { ...LIE_SETTINGS, answers: 60 };
const shareOf = ({ part, total }: Share): number => part / total;

test("the server's verification lets fewer false claims through than the model's word, in as many rounds (W4)", async () => {
  const word = await measureLies("word alone", settings);
  const server = await measureLies("server", settings);
  // The model's word is worth as much as the model: it confirms everything.
  expect(word.amongConfirmed).toEqual(word.inText);
  expect(shareOf(word.amongConfirmed)).toBeGreaterThan(0.18);
  expect(shareOf(server.inText)).toBeLessThan(shareOf(word.inText) - 0.02);
  expect(shareOf(server.amongConfirmed)).toBeLessThan(0.65 * shareOf(word.amongConfirmed));
  expect(shareOf(server.trueUnconfirmed)).toBeLessThan(0.3);
  // The figures are honest only if the model has lies that the server cannot see through.
  expect(missedShare(server)).toBeGreaterThan(0.1);
});

function missedShare({ missed }: LieFigures): number {
  const kinds = Object.values(missed);
  return kinds.reduce((sum, { part }) => sum + part, 0) / kinds.reduce((sum, { total }) => sum + total, 0);
}
