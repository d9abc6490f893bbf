import { expect, test } from "vitest";
import { openHttpScene } from "../support/http-server.ts";
import { dribble, isRefusedUnread, tryRawRequests } from "./raw-http.ts";

test("strange addresses, hosts, lengths and encodings are refused, and no hidden request is seen (T13, A9)", async (context) => {
  const server = await (await openHttpScene(context)).http();
  const { tried, broken } = await tryRawRequests(server);
  expect(broken).toEqual([]);
  expect(tried).toBeGreaterThan(50);
});

test("ten announced gigabytes are refused before they are sent (T16, A9)", async (context) => {
  const server = await (await openHttpScene(context)).http();
  expect(await isRefusedUnread(server, undefined)).toContain("401");
  expect(await isRefusedUnread(server, server.token)).toContain("413");
});

test("fifty clients that never finish a request hold nobody up, and are sent away (T16, A9)", async (context) => {
  const server = await (await openHttpScene(context)).http();
  const { ended } = dribble(server.port, 50);
  expect((await server.request("/health")).status).toBe(200);
  for (const said of await ended) expect(said).toMatch(/^(?:HTTP\/1\.1 408 .*)?$/);
  expect((await server.request("/health")).status).toBe(200);
});
