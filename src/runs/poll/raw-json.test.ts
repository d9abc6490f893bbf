/** What is stored of responses that JSON.stringify cannot serialize. */

import { inflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { packRaw } from "./raw-json.ts";

const unpack = (packed: Uint8Array | undefined): unknown =>
  packed === undefined ? undefined : JSON.parse(inflateRawSync(packed).toString());

test("a field that is nested too deep is left out and the rest is kept (P5)", () => {
  const deep: unknown = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);
  expect(() => JSON.stringify(deep)).toThrow(RangeError);
  expect(unpack(packRaw({ id: "v1_a", extra: deep, steps: [{ type: "thought" }] }))).toEqual({
    id: "v1_a",
    steps: [{ type: "thought" }],
  });
  expect(unpack(packRaw(deep))).toEqual({});
  expect(packRaw(undefined)).toBeUndefined();
});
