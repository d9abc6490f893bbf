import { expect, test } from "vitest";
import { openHttpScene } from "../kit/server/http-server.ts";
import { dribble, isRefusedUnread, tryRawRequests } from "./raw-http.ts";

test("unusual addresses, hosts, lengths and encodings are refused, and no smuggled request is answered (T13, A9)", async (context) => {
  const server = await (await openHttpScene(context)).http();
  const { tried, broken } = await tryRawRequests(server);
  expect(broken).toEqual([]);
  expect(tried).toBeGreaterThan(50);
});

test("a body announced as ten gigabytes is refused before it is sent (T16, A9)", async (context) => {
  const server = await (await openHttpScene(context)).http();
  expect(await isRefusedUnread(server, undefined)).toContain("401");
  expect(await isRefusedUnread(server, server.token)).toContain("413");
});

test("fifty clients that never finish a request block no other client, and are disconnected (T16, A9)", async (context) => {
  const server = await (await openHttpScene(context)).http();
  const { ended } = dribble(server.port, 50);
  expect((await server.request("/health")).status).toBe(200);
  for (const said of await ended) expect(said).toMatch(/^(?:HTTP\/1\.1 408 .*)?$/);
  expect((await server.request("/health")).status).toBe(200);
});
