/** Pictures and Search Suggestions on the page and in saved files, seen with a real browser. */

import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { BrowserContextOptions, Page } from "playwright-core";
import { expect, test, type TestContext } from "vitest";
import { suggestionsFor } from "../../simulator/models/search-suggestions.ts";
import { enterPage, openBrowser } from "../kit/browser/browser.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
import { sampleId, insertSampleRuns } from "../kit/browser/sample-runs.ts";
import { chart } from "../kit/browser/pictures.ts";
import { SOURCES } from "../kit/browser/sample-report.ts";
import { hostileSuggestions } from "../security/hostile-runs.ts";

const RUN = sampleId(1);
const FIRST = "# Lakes\n\nThe first paragraph.\n\n";
const REPORT = `${FIRST}## Depth\n\nThe second paragraph.\n`;

async function openWorld(
  context: TestContext,
  suggestions: readonly string[],
  { picture = chart(), ...options }: BrowserContextOptions & { picture?: string } = {},
) {
  const browser = await openBrowser(context);
  if (browser === undefined) return context.skip("there is no chromium");
  const scene = await openHttpScene(context);
  await insertSampleRuns(scene.configDir, [
    {
      row: { task_id: RUN, created_at: Date.now() - 60_000, completed_at: Date.now() },
      report: {
        markdown: REPORT,
        sources: SOURCES.slice(0, 1),
        pictures: [{ mimeType: "image/png", data: picture, offset: FIRST.length }],
        suggestions,
      },
    },
  ]);
  const server = await scene.http();
  return { scene, server, opened: await enterPage(browser, server, options) };
}

/** Waits until it is decoded, which fails for invalid pictures. */
const PICTURE = `(async () => {
  const image = document.querySelector(".picture img");
  await image.decode();
  return { width: image.naturalWidth, before: image.parentElement.previousElementSibling.textContent };
})()`;

const shownPicture = (page: Page) => page.evaluate<unknown>(PICTURE);

const ROUNDNESS = `getComputedStyle(document.querySelector(".chip")).borderRadius`;

const roundness = (page: Page) => page.frames()[1]?.evaluate<unknown>(ROUNDNESS);

test("a picture is shown on the page at its position in the report (S2)", async (context) => {
  const { opened } = await openWorld(context, []);
  const { page, pageErrors, otherOrigins } = opened;
  await page.goto(`/runs/${RUN}`);
  await page.locator(".picture img[src]").waitFor();
  expect(await shownPicture(page)).toEqual({ width: 320, before: "The first paragraph." });
  expect([...pageErrors, ...otherOrigins]).toEqual([]);
});

test("search suggestions keep Google's styling in a frame that opens Google in a new tab (T-1)", async (context) => {
  const { opened } = await openWorld(context, [suggestionsFor(["deepest lake", "lake depth records"])]);
  const { page, pageErrors, otherOrigins } = opened;
  await page.goto(`/runs/${RUN}`);
  const frame = page.frameLocator(".suggestions iframe");
  await frame.locator(".chip").first().waitFor();
  expect(await frame.locator(".chip").allTextContents()).toEqual(["deepest lake", "lake depth records"]);
  // Its styles apply, although the page allows no other ones.
  expect(await roundness(page)).toBe("16px");
  expect([...pageErrors, ...otherOrigins]).toEqual([]);
  await page
    .context()
    .route("https://vertexaisearch.cloud.google.com/**", (route) => route.fulfill({ body: "Google" }));
  const tab = page.context().waitForEvent("page");
  await frame.locator(".chip").first().click();
  expect((await tab).url()).toContain("https://vertexaisearch.cloud.google.com/grounding-api-redirect/");
  expect(page.url()).toContain(RUN);
});

test("a saved HTML file shows pictures and suggestions and loads nothing (S2, T-1)", async (context) => {
  const { scene, server, opened } = await openWorld(context, [suggestionsFor(["deepest lake"])]);
  const { page, pageErrors, otherOrigins } = opened;
  const saved = await server.request(`/api/runs/${RUN}/report.html`);
  const file = join(scene.configDir, "saved.html");
  writeFileSync(file, await saved.text());
  await page.goto(pathToFileURL(file).href);
  expect(await shownPicture(page)).toEqual({ width: 320, before: "The first paragraph." });
  const chip = page.frameLocator("iframe").locator(".chip");
  expect(await chip.textContent()).toBe("deepest lake");
  expect(await roundness(page)).toBe("16px");
  expect([...pageErrors, ...otherOrigins]).toEqual([]);
});

interface Canary {
  address: string;
  asked: string[];
}

/** A URL that must not be requested, and the requests it received. */
async function openCanary({ onTestFinished }: TestContext): Promise<Canary> {
  const asked: string[] = [];
  const canary = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end();
  });
  canary.on("connection", () => asked.push("connection"));
  await new Promise<void>((resolve) => void canary.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void canary.close());
  const bound = canary.address();
  return { address: `http://127.0.0.1:${typeof bound === "object" && bound !== null ? bound.port : 0}`, asked };
}

const WALLS = { "with the policy of the page": false, "by the allow-list alone": true };

for (const [walls, bypassCSP] of Object.entries(WALLS)) {
  test(`hostile suggestions run nothing, load nothing and lead nowhere, ${walls} (T-1)`, async (context) => {
    const { address, asked } = await openCanary(context);
    const { scene, server, opened } = await openWorld(context, [hostileSuggestions(address)], { bypassCSP });
    const { page, pageErrors, otherOrigins } = opened;
    const hits: unknown[] = [];
    await page.context().exposeBinding("hit", (_source, what: unknown) => void hits.push(what));
    const saved = join(scene.configDir, "hostile.html");
    writeFileSync(saved, await (await server.request(`/api/runs/${RUN}/report.html`)).text());
    for (const place of [`/runs/${RUN}`, pathToFileURL(saved).href]) {
      await page.goto(place);
      const frame = page.frameLocator("iframe");
      await frame.locator(".chip", { hasText: "lakes" }).waitFor();
      // Only what leads to Google is a link.
      expect(await frame.locator("a[href]").allTextContents(), place).toEqual(["lakes"]);
      for (const chip of await frame.locator(".chip:not([href])").all()) await chip.click();
      expect(await frame.locator("script, img, iframe, object, link[href], form, video").count()).toBe(0);
      expect(page.frames()).toHaveLength(2);
      // It has an opaque origin, without access to the page's storage and cookies.
      expect(await page.frames()[1]?.evaluate("origin")).toBe("null");
    }
    expect({ hits, asked, otherOrigins, pageErrors }).toEqual({
      hits: [],
      asked: [],
      otherOrigins: [],
      pageErrors: [],
    });
  });
}

test("a picture that is also a page is shown as a picture and runs nothing, wherever it is opened (V4, T20)", async (context) => {
  const script = "<script>hit('script')</script><img src=x onerror=\"hit('handler')\">";
  const picture = Buffer.concat([Buffer.from(chart(), "base64"), Buffer.from(`\n<html>${script}</html>`)]);
  // Without the policy, so that the type alone must keep it from running.
  const { scene, server, opened } = await openWorld(context, [], {
    picture: picture.toString("base64"),
    bypassCSP: true,
  });
  const { page, pageErrors, otherOrigins } = opened;
  const hits: unknown[] = [];
  await page.context().exposeBinding("hit", (_source, what: unknown) => void hits.push(what));
  const html = join(scene.configDir, "saved.html");
  writeFileSync(html, await (await server.request(`/api/runs/${RUN}/report.html`)).text());
  for (const place of [`/runs/${RUN}`, pathToFileURL(html).href]) {
    await page.goto(place);
    await page.locator(".picture img[src]").waitFor();
    expect(await shownPicture(page), place).toMatchObject({ width: 320 });
  }
  const { stdout } = await scene.command(["save", RUN, "--output-dir", scene.configDir, "--json"]);
  const { file_path: saved } = JSON.parse(stdout);
  const [, link = ""] = /!\[[^\]]*\]\(([^)]+\.png)\)/.exec(readFileSync(saved, "utf8")) ?? [];
  await page.goto(pathToFileURL(join(dirname(saved), link)).href);
  expect(await page.evaluate("document.images[0].naturalWidth")).toBe(320);
  expect({ hits, pageErrors, otherOrigins }).toEqual({ hits: [], pageErrors: [], otherOrigins: [] });
});

test("a picture is served to its owner only, with its real type, in a sandbox (S2)", async (context) => {
  const { server } = await openWorld(context, []);
  const picture = await server.request(`/api/runs/${RUN}/pictures/1`);
  expect(picture.status).toBe(200);
  expect(picture.headers.get("content-type")).toBe("image/png");
  expect(picture.headers.get("x-content-type-options")).toBe("nosniff");
  expect(picture.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
  expect(
    Buffer.from(await picture.arrayBuffer())
      .subarray(1, 4)
      .toString(),
  ).toBe("PNG");
  for (const wrong of ["0", "2", "1.5", "-1", "1e0", "x", "%2e%2e"]) {
    expect((await server.request(`/api/runs/${RUN}/pictures/${wrong}`)).status, wrong).toBe(404);
  }
  expect((await server.request(`/api/runs/${sampleId(2)}/pictures/1`)).status).toBe(404);
  expect((await fetch(`${server.url}/api/runs/${RUN}/pictures/1`)).status).toBe(401);
});
