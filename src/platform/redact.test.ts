/** Secrets are removed from text by their value, in all encodings. */

import { expect, test } from "vitest";
import { createRedactor } from "./redact.ts";

test("a known secret is replaced by its name, wherever it occurs (T9)", () => {
  const redact = createRedactor({ GEMINI_API_KEY: "s3cret-key", OTHER: undefined });
  expect(redact("x-goog-api-key: s3cret-key, again s3cret-key.")).toBe(
    "x-goog-api-key: [GEMINI_API_KEY], again [GEMINI_API_KEY].",
  );
});

test("a secret is found in a URL and in JSON (T9)", () => {
  const redact = createRedactor({ KEY: 'a b/"c"+d' });
  expect(redact(`?key=${encodeURIComponent('a b/"c"+d')}`)).toBe("?key=[KEY]");
  expect(redact(JSON.stringify({ key: 'a b/"c"+d' }))).toBe('{"key":"[KEY]"}');
});

test("a secret that contains another one is replaced whole (T9)", () => {
  const redact = createRedactor({ SHORT: "abcdef", LONG: "abcdef-ghi" });
  expect(redact("abcdef-ghi and abcdef")).toBe("[LONG] and [SHORT]");
});

test("a secret is matched as text, not as a pattern (T9)", () => {
  const redact = createRedactor({ KEY: "a.c$&(x" });
  expect(redact("abc$&(x a.c$&(x")).toBe("abc$&(x [KEY]");
});

test("values too short to be secrets are kept", () => {
  expect(createRedactor({ KEY: "is" })("this is it")).toBe("this is it");
});

test("what looks like a Google key is removed even if it is not configured (T9)", () => {
  const key = `AIza${"Sy".repeat(17)}A`;
  expect(createRedactor({})(`key ${key}, AIza too short`)).toBe("key [API key], AIza too short");
});

test("megabytes that look like one key exceed no stack (T9, T15)", () => {
  expect(createRedactor({})(`AIza${"A".repeat(12_000_000)} end`)).toBe("[API key] end");
});

test("a secret with a lone surrogate, which no URL can encode, is found (T9)", () => {
  const redact = createRedactor({ KEY: "half\uD800secret" });
  expect(redact("the half\uD800secret is out")).toBe("the [KEY] is out");
});
