import { expect, test } from "vitest";
import { addressesOf, addressOf, pageUrl } from "./server-address.ts";

test("the address in a link is the first address of the server that it leads to (A9)", () => {
  for (const host of ["127.0.0.1", "localhost", "::1", "0.0.0.0", "::", "research.lan"]) {
    for (const port of [80, 3_000]) expect(addressesOf(host, port)[0]).toBe(addressOf(pageUrl(host, port)));
  }
  expect(addressesOf("127.0.0.1", 3_000)).toEqual(["127.0.0.1:3000", "localhost:3000"]);
  expect(addressesOf("localhost", 3_000)).toEqual(["localhost:3000", "127.0.0.1:3000", "[::1]:3000"]);
  expect(addressesOf("Research.lan", 80)).toEqual(["research.lan"]);
  expect(addressesOf("0.0.0.0", 3_000)).toEqual(
    expect.arrayContaining(["127.0.0.1:3000", "[::1]:3000", "localhost:3000"]),
  );
});
