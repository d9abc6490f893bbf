/** The usual proxy variables: every request to Google goes through the proxy unless NO_PROXY excludes it. */

import { expect, test } from "vitest";
import { openProxy } from "../kit/server/proxy.ts";
import { openResearch, QUERY, startRun, untilStatus } from "../kit/server/research.ts";

test("searches and research go through HTTP_PROXY, and NO_PROXY leaves it out (B7)", async (context) => {
  const scene = await openResearch(context);
  const proxy = await openProxy(context);
  const server = await scene.server({ env: { HTTP_PROXY: proxy.url, NO_PROXY: "" } });
  expect((await server.call("search", { query: QUERY })).isError).toBe(false);
  expect(proxy.passed.length).toBeGreaterThan(0);
  const afterSearch = proxy.passed.length;
  await untilStatus(server, await startRun(server), "completed");
  expect(proxy.passed.length).toBeGreaterThan(afterSearch);
  const known = proxy.passed.length;
  const direct = await scene.server({ env: { HTTP_PROXY: proxy.url, NO_PROXY: "127.0.0.1" } });
  expect((await direct.call("search", { query: QUERY })).isError).toBe(false);
  expect(proxy.passed.length).toBe(known);
});
