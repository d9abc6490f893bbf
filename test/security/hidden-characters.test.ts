import { expect, test } from "vitest";
import { tryHiddenCharacters } from "./hidden-characters.ts";
import { HIDDEN_TEXTS } from "./hidden-texts.ts";

test("T17 T26 no hidden character planted in an answer leaves by any door", async (context) => {
  const { tried, broken } = await tryHiddenCharacters(context, HIDDEN_TEXTS);
  expect(broken).toEqual([]);
  expect(tried).toBeGreaterThan(1_000);
});
