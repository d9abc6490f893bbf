import { expect, test } from "vitest";
import { MAX_TITLE_CHARACTERS } from "../../runs/library/organize-store.ts";
import { tableTitle } from "./prepare.ts";

test("a table is named after the question of its report and its columns, on one line (V5)", () => {
  expect(tableTitle("Which heat pumps\nare quiet?", ["Maker", "Noise"])).toBe(
    "Table of “Which heat pumps are quiet?”: Maker, Noise",
  );
});

test("a long title is shortened at whole characters and is no longer than one that a user gives (V5)", () => {
  const columns = Array.from({ length: 20 }, (_, index) => `Column number ${index + 1}`);
  const title = tableTitle("🙂".repeat(5_000), columns);
  expect(title).toMatch(/^Table of “(?:🙂){79}…”: Column number 1, .+…$/u);
  expect(title.length).toBeLessThanOrEqual(2 * MAX_TITLE_CHARACTERS);
  expect(Array.from(title).length).toBeLessThanOrEqual(MAX_TITLE_CHARACTERS);
});
