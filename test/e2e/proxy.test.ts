/** Where requests to Google go: through the proxy unless NO_PROXY excludes them, and to one version of the API. */

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

test("every request names the version of the API that was tested, whatever the environment says (B7)", async (context) => {
  const scene = await openResearch(context);
  const google = await openProxy(context, scene.gemini.url);
  const env = { GOOGLE_GEMINI_BASE_URL: google.url, GOOGLE_GENAI_API_VERSION: "v1" };
  const server = await scene.server({ env });
  expect((await server.call("search", { query: QUERY })).isError).toBe(false);
  await untilStatus(server, await startRun(server), "completed");
  await scene.command(["doctor"], { env });
  const paths = new Set(google.passed.map((request) => request.replace(/v1_[\w-]+/, "<id>")));
  expect([...paths].toSorted()).toEqual([
    "GET /v1beta/interactions/<id>",
    "GET /v1beta/models",
    "POST /v1beta/interactions",
    "POST /v1beta/models/gemini-3.8-flash:streamGenerateContent",
  ]);
});
