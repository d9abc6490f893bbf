/** Copies of one text are recognised, also with other menus around them; texts about one subject are not copies. */

import { expect, test } from "vitest";
import { copiesAmong, shinglesOf } from "./copies.ts";

const sentences = (seed: string, count: number): string[] =>
  Array.from(
    { length: count },
    (_, n) => `${seed} reported in paragraph ${n} that item ${n * 7} of the ${seed} list was moved by ${n + 3} people.`,
  );

const page = (source: number, blocks: string[]) => ({ source, shingles: shinglesOf(blocks) });

test("the same text is grouped by its lowest number, whatever surrounds it (W6)", () => {
  const agency = sentences("the agency", 40);
  const own = sentences("our correspondent", 40);
  const japanese = [
    "地震は午前五時に発生し、津波の心配はないと気象庁が発表した。余震に注意するよう呼びかけている。建物の被害は確認されていない。列車は一時運転を見合わせた。",
  ];
  const groups = copiesAmong([
    page(4, agency),
    page(2, [
      "Home",
      "Sport",
      ...agency,
      "Contact the newsroom by telephone on weekdays between nine and five o'clock.",
    ]),
    page(3, own),
    page(9, [...japanese, ...japanese, ...japanese]),
    page(5, [...japanese, ...japanese]),
    page(7, ["Too short to say."]),
    page(8, ["Too short to say."]),
  ]);
  expect(groups).toEqual([
    [2, 4],
    [5, 9],
  ]);
  expect(shinglesOf(["Short."])).toBeUndefined();
});
