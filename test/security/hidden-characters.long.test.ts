import { expect, test } from "vitest";
import { tryHiddenCharacters } from "./hidden-characters.ts";
import { HIDDEN_TEXTS } from "./hidden-texts.ts";

test("no hidden character planted in an answer is in the output of any transport (T17, T26)", async (context) => {
  const { tried, broken } = await tryHiddenCharacters(context, HIDDEN_TEXTS);
  expect(broken).toEqual([]);
  expect(tried).toBeGreaterThan(1_000);
});
