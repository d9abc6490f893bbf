/** Secrets are taken out of text by their value, in every spelling that text may give them. */

import { expect, test } from "vitest";
import { createRedactor } from "./redact.ts";

test("names a known secret instead of printing it, wherever it stands", () => {
  const redact = createRedactor({ GEMINI_API_KEY: "s3cret-key", OTHER: undefined });
  expect(redact("x-goog-api-key: s3cret-key, again s3cret-key.")).toBe(
    "x-goog-api-key: [GEMINI_API_KEY], again [GEMINI_API_KEY].",
  );
});

test("knows a secret in a URL and in JSON", () => {
  const redact = createRedactor({ KEY: 'a b/"c"+d' });
  expect(redact(`?key=${encodeURIComponent('a b/"c"+d')}`)).toBe("?key=[KEY]");
  expect(redact(JSON.stringify({ key: 'a b/"c"+d' }))).toBe('{"key":"[KEY]"}');
});

test("replaces a secret that contains another one whole", () => {
  const redact = createRedactor({ SHORT: "abcdef", LONG: "abcdef-ghi" });
  expect(redact("abcdef-ghi and abcdef")).toBe("[LONG] and [SHORT]");
});

test("treats a secret as text, not as a pattern", () => {
  const redact = createRedactor({ KEY: "a.c$&(x" });
  expect(redact("abc$&(x a.c$&(x")).toBe("abc$&(x [KEY]");
});

test("leaves values alone that are too short to be secrets", () => {
  expect(createRedactor({ KEY: "is" })("this is it")).toBe("this is it");
});

test("takes out what looks like a Google key even when nobody told it", () => {
  const key = `AIza${"Sy".repeat(17)}A`;
  expect(createRedactor({})(`key ${key}, AIza too short`)).toBe("key [API key], AIza too short");
});

test("knows a secret with half a character in it, which no address can spell (T9)", () => {
  const redact = createRedactor({ KEY: "half\uD800secret" });
  expect(redact("the half\uD800secret is out")).toBe("the [KEY] is out");
});
