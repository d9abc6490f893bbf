/** A dashboard above the stream limit: it shows the server's reason and retries when it may. */

import { expect, test } from "vitest";
import { enterPage, openBrowser } from "../kit/browser/browser.ts";
import { openPageServer } from "../kit/browser/page-api.ts";
import { STREAM_LIMITS } from "../../src/operations/parts/stream-permits.ts";

test("a page above the stream limit shows the reason, waits as long as requested, and continues when a stream is free (A9)", async (context) => {
  const browser = await openBrowser(context);
  if (browser === undefined) return context.skip("there is no chromium");
  const server = await (await openPageServer(context)).serve();
  const open = Array.from({ length: STREAM_LIMITS.perUser }, () => server.live());
  const [other] = await Promise.all(open);
  expect(await server.get("/api/live")).toMatchObject({ status: 429 });
  const { page } = await enterPage(browser, server);
  const tries: number[] = [];
  page.on("response", (response) => {
    if (new URL(response.url()).pathname === "/api/live") tries.push(performance.now());
  });
  await page.goto(`${server.url}/`);
  const refusal = page.locator(".away");
  await refusal.waitFor();
  expect(await refusal.innerText()).toBe("You already have 100 open streams, the maximum for one user.");
  // The previous page may have tried, too: the last request is this page's.
  const first = tries.length;
  await expect.poll(() => tries.length).toBeGreaterThan(first);
  expect((tries[first] ?? 0) - (tries[first - 1] ?? 0)).toBeGreaterThan(4_500);
  other?.cut();
  await refusal.waitFor({ state: "detached" });
  return undefined;
});
