/** The reading view in a real browser: sources beside the text, cards on citations, tables, maths, and long reports. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { BrowserContextOptions, Page } from "playwright-core";
import { expect, test, type TestContext } from "vitest";
import { enterPage, openBrowser } from "../kit/browser/browser.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
import { sampleId, insertSampleRuns, type SampleRun } from "../kit/browser/sample-runs.ts";
import { SOURCE_LIST, SOURCES } from "../kit/browser/sample-report.ts";
import { inMenu } from "../kit/browser/menu.ts";

const RUN = sampleId(1);
const SOON = { timeout: 60_000 };

async function openReport(context: TestContext, sample: Partial<SampleRun>, options: BrowserContextOptions = {}) {
  const browser = await openBrowser(context);
  if (browser === undefined) return context.skip("there is no chromium");
  const scene = await openHttpScene(context);
  const row = { task_id: RUN, created_at: Date.now() - 60_000, completed_at: Date.now() };
  await insertSampleRuns(scene.configDir, [{ ...sample, row: { ...row, ...sample.row } }]);
  const server = await scene.http();
  const opened = await enterPage(browser, server, options);
  await opened.page.goto(`/runs/${RUN}`);
  return { scene, server, ...opened };
}

const withReport = (markdown: string): Pick<SampleRun, "report"> => ({
  report: { markdown: `${markdown}\n\nSources:\n${SOURCE_LIST}`, sources: SOURCES },
});

const SECTIONS = Array.from(
  { length: 40 },
  (_, n) =>
    `## Section ${n}\n\n${"A sentence that fills the section. ".repeat(40)}Measured in the field [${(n % 6) + 1}].`,
).join("\n\n");

const boxOf = async (page: Page, selector: string) => {
  const box = await page.locator(selector).first().boundingBox();
  return box ?? { x: -1, y: -1, width: 0, height: 0 };
};

test("on a wide window a citation shows its source beside the text, which does not move (K1)", async (context) => {
  const { page, pageErrors, otherOrigins } = await openReport(context, withReport(SECTIONS));
  const citation = page.locator("#cite-2-3");
  await citation.scrollIntoViewIfNeeded();
  const before = await page.evaluate<number>("scrollY");
  const text = await boxOf(page, ".report-text");
  expect((await boxOf(page, ".sources")).x).toBeGreaterThan(text.x + text.width - 1);
  await citation.click();
  await page.locator("#source-2:focus[data-reached]").waitFor(SOON);
  expect(await page.evaluate("scrollY")).toBe(before);
  expect(page.url()).toContain("#source-2");
  await page.goBack();
  await page.locator("#cite-2-3:focus").waitFor(SOON);
  expect(Math.abs(Number(await page.evaluate("scrollY")) - before)).toBeLessThan(3);
  // Back from the source, by the sentence that cites it.
  const source = page.locator("#source-2");
  await source.locator("summary").click();
  expect(await source.locator("summary").innerText()).toBe("Cited 7 times");
  expect(await source.locator(".back li").first().innerText()).toBe("Measured in the field");
  await source.locator(".back a").nth(6).click();
  await page.locator("#cite-2-7:focus").waitFor(SOON);
  expect([...pageErrors, ...otherOrigins]).toEqual([]);
});

test("a citation has a card on hover and focus, which stays, can be pointed at, and closes on Escape (K1)", async (context) => {
  const { page, pageErrors } = await openReport(context, withReport("First. Pumps work at −25 °C [1][4]. Later text."));
  const card = page.locator(".citation-card");
  await page.locator("#cite-4-1").hover();
  await card.waitFor(SOON);
  expect(await card.innerText()).toContain("Laboratory tests down to −30 °C");
  expect(await card.innerText()).toContain("building-institute.example");
  // Only what a page says is quoted, and no page was read.
  expect(await card.locator("blockquote").count()).toBe(0);
  expect(await page.locator("#cite-4-1").getAttribute("aria-describedby")).toBe("citation-card");
  await card.hover();
  // Longer than the time after which it closes.
  await page.waitForTimeout(600);
  expect(await card.isVisible()).toBe(true);
  await page.keyboard.press("Escape");
  await card.waitFor({ ...SOON, state: "detached" });
  await page.mouse.move(1, 1);

  await page.locator(".actions summary").last().focus();
  await page.keyboard.press("Tab");
  await card.waitFor(SOON);
  expect(await card.innerText()).toContain("field results");
  await page.keyboard.press("Tab");
  await expect.poll(() => card.innerText(), SOON).toContain("Laboratory tests");
  expect(pageErrors).toEqual([]);
});

test("a tap on a citation shows its card, which leads to the page and to the sources (K1)", async (context) => {
  const phone = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };
  const { page } = await openReport(context, withReport(`Pumps work [1].\n\n${SECTIONS}`), phone);
  await page.locator("#cite-1-1").tap();
  const card = page.locator(".citation-card");
  await card.waitFor(SOON);
  expect(page.url()).not.toContain("#");
  const { x, width } = await boxOf(page, ".citation-card");
  expect(x >= 0 && x + width <= 390).toBe(true);
  expect(await card.getByRole("link").first().getAttribute("href")).toBe(SOURCES[0]?.url);
  await card.getByText("Show in sources").tap();
  await page.locator("#source-1:focus").waitFor(SOON);
});

test("the contents follow the reading position and scroll themselves (K1)", async (context) => {
  const { page } = await openReport(context, withReport(SECTIONS));
  await page.locator("#s-section-36").evaluate((heading) => heading.scrollIntoView({ block: "start" }));
  const current = page.locator(".contents [aria-current]");
  await expect.poll(() => current.innerText(), SOON).toBe("Section 36");
  const list = await boxOf(page, ".contents");
  await expect
    .poll(async () => {
      const { y, height } = await boxOf(page, ".contents [aria-current]");
      return y >= list.y && y + height <= list.y + list.height;
    }, SOON)
    .toBe(true);
});

const COLUMNS = Array.from({ length: 12 }, (_, n) => `Column number ${n}`);
const rowOf = (cells: string[]): string => `| ${cells.join(" | ")} |`;
const WIDE_TABLE = [
  rowOf(COLUMNS),
  rowOf(COLUMNS.map(() => "---")),
  rowOf(COLUMNS.map((name) => `${name} value`)),
].join("\n");

test("a wide table is wider than the text, shows that it scrolls, and keeps its first column in view (K1)", async (context) => {
  const { page } = await openReport(
    context,
    withReport(
      `## One\n\nText of a paragraph. ${"More words. ".repeat(40)}\n\n${WIDE_TABLE}\n\n| a | b |\n|-|-|\n| 1 | 2 |`,
    ),
    { viewport: { width: 1_440, height: 900 } },
  );
  const table = page.locator(".table").first();
  await page.locator(".table[data-more=end]").waitFor(SOON);
  expect((await boxOf(page, ".table")).width).toBeGreaterThan((await boxOf(page, ".part > p")).width + 40);
  expect(await page.locator(".table").nth(1).getAttribute("data-more")).toBeNull();
  await table.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.locator(".table[data-more~=start]").waitFor(SOON);
  const { x } = await boxOf(page, ".table");
  expect(Math.abs((await boxOf(page, ".table tbody td")).x - x)).toBeLessThan(4);
  const fits = () => page.evaluate<boolean>("document.documentElement.scrollWidth <= innerWidth");
  expect(await fits()).toBe(true);
  // A4; paper does not scroll, so every column is on it.
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width: 794, height: 1_123 });
  expect(await fits()).toBe(true);
  expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(255, 255, 255)");
});

const BLOCKS = `## عنوان

هذه فقرة عربية طويلة تنتهي بنقطة.

- بند أول
- بند ثان

これは日本語の段落です。

$$\\frac{a}{b} = \\sum_{i=1}^n x_i^2$$

It costs $5 to $10 and \\(E = mc^2\\) holds[^1].

- [x] built
- [ ] tested

\`\`\`js
const answer = 42;
\`\`\`

[^1]: Einstein, 1905.`;

const RENDERED = `({
  arabic: getComputedStyle(document.querySelector("p[lang=ar]")).direction,
  list: getComputedStyle(document.querySelector("ul")).direction,
  japanese: document.querySelector("p[lang=ja]").textContent,
  fraction: document.querySelector("mfrac").getBoundingClientRect().height > document.querySelector("mfrac > mi").getBoundingClientRect().height,
  done: document.querySelector(".task").getAttribute("aria-label"),
  footnote: document.querySelector("#fn-1").textContent.includes("Einstein"),
})`;

test("direction, maths, task lists and footnotes are rendered on the page, in files and on paper (K1)", async (context) => {
  const { page, server, scene, pageErrors, otherOrigins } = await openReport(context, withReport(BLOCKS));
  await page.locator(".maths math").waitFor(SOON);
  const expected = {
    arabic: "rtl",
    list: "rtl",
    japanese: "これは日本語の段落です。",
    fraction: true,
    done: "Done",
    footnote: true,
  };
  expect(await page.evaluate(RENDERED.replace('"ul"', '".part ul"'))).toEqual(expected);
  expect(await page.locator(".part").innerText()).toContain("It costs $5 to $10 and");
  await page.locator(".note a").click();
  await page.locator("#fn-1:focus").waitFor(SOON);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy code" }).click();
  await expect.poll(() => page.evaluate("navigator.clipboard.readText()"), SOON).toBe("const answer = 42;\n");

  await page.emulateMedia({ media: "print" });
  expect(await page.evaluate(RENDERED.replace('"ul"', '".part ul"'))).toEqual(expected);
  expect(await page.getByRole("button", { name: "Copy code" }).count()).toBe(0);
  expect(await page.locator(".sources .on-paper").first().isVisible()).toBe(true);
  await page.emulateMedia({ media: "screen" });

  const file = join(scene.configDir, "saved.html");
  writeFileSync(file, await (await server.request(`/api/runs/${RUN}/report.html`)).text());
  await page.goto(pathToFileURL(file).href);
  expect(await page.evaluate(RENDERED.replace('"ul"', '"ul[dir]"'))).toEqual(expected);
  expect([...pageErrors, ...otherOrigins]).toEqual([]);
});

test("a very long report is rendered whole, and its sections can be reached (K1)", async (context) => {
  const sections = Array.from({ length: 60 }, (_, n) => `## Part ${n}\n\n${"Words of **weight**. ".repeat(300)}`);
  const { page, pageErrors } = await openReport(context, withReport(sections.join("\n\n")));
  await page.locator("#s-part-0").waitFor(SOON);
  await page.locator("#s-part-59").waitFor({ ...SOON, state: "attached" });
  expect(await page.locator(".part").count()).toBeGreaterThan(2);
  expect(await page.locator(".report-text").innerText()).not.toContain("**weight**");
  await page.goto("about:blank");
  await page.goto(`/runs/${RUN}#s-part-58`);
  await page.locator("#s-part-58:focus").waitFor(SOON);
  await expect.poll(() => page.locator(".contents [aria-current]").innerText(), SOON).toBe("Part 58");
  expect(pageErrors).toEqual([]);
});

test("a verified deep search says in which round, on the page and on paper (G4)", async (context) => {
  const { page } = await openReport(context, {
    row: { task_id: RUN, kind: "deep_search" },
    report: { markdown: "Deep.", sources: [], metadata: { verified: true, verified_in_round: 2 } },
  });
  expect(await page.locator(".verification").innerText()).toBe("✓ Verified in round 2");
  await page.emulateMedia({ media: "print" });
  expect(await page.locator(".verification").isVisible()).toBe(true);
});

test("a run that does not exist is explained without the names of tools (K2)", async (context) => {
  const { page } = await openReport(context, withReport("x"));
  await page.goto(`/runs/${sampleId(99)}`);
  await page.getByRole("heading", { name: "Run not found" }).waitFor(SOON);
  expect(await page.getByRole("alert").innerText()).not.toContain("list_research");
});

test("the searches of a quick answer are in its activity (J3)", async (context) => {
  const { page } = await openReport(context, {
    row: { task_id: RUN, kind: "search" },
    report: { markdown: "Node.js 24.", sources: [], metadata: { search_queries_used: ["node lts", "node eol"] } },
  });
  await page.locator(".timeline").waitFor(SOON);
  expect(await page.locator(".entry[data-kind=search] .entry-text").allTextContents()).toEqual([
    "node eol",
    "node lts",
  ]);
});

/** Collects the layout shifts that no input explains. */
const COLLECT_SHIFTS = `
  globalThis.shifts = 0;
  new PerformanceObserver((list) => {
    for (const shift of list.getEntries()) if (!shift.hadRecentInput) globalThis.shifts += shift.value;
  }).observe({ type: "layout-shift", buffered: true });`;

test("nothing jumps when a report arrives late (K1)", async (context) => {
  const { page } = await openReport(context, withReport(SECTIONS));
  await page.locator(".report-text").waitFor(SOON);
  await page.addInitScript(COLLECT_SHIFTS);
  await page.route("**/report", async (route) => {
    await page.waitForTimeout(700);
    await route.continue();
  });
  await page.reload();
  await page.locator(".report.loading").waitFor(SOON);
  const before = await boxOf(page, ".actions");
  await page.locator(".report-text").waitFor(SOON);
  await page.waitForTimeout(300);
  expect(await boxOf(page, ".actions")).toEqual(before);
  // Google calls less than 0.1 good.
  expect(Number(await page.evaluate("shifts"))).toBeLessThan(0.1);
});

test("details use plain words, and a dialog darkens the whole window (L1)", async (context) => {
  const { page } = await openReport(context, withReport("x"));
  await page.locator(".facts summary").click();
  const facts = await page.locator(".facts dl").innerText();
  expect(facts).toMatch(/Answered by\s+Gemini API/);
  expect(facts).toMatch(/Started from\s+this page/);
  expect(facts).not.toMatch(/\bMode\b|Through|Asked by|async/);
  const ground = () => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
  const light = await ground();
  await (await inMenu(page, "More", "Delete…")).click();
  await page.getByRole("dialog").waitFor(SOON);
  // The gutter of the scrollbar has the colour of the root, and the page its own.
  expect(await ground()).not.toBe(light);
  expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(light);
});

const OPEN_POINTS = "## Open questions\n\n- How do they age beyond ten years?\n- No trial below −30 °C was found.";

test.for([
  { width: 1_440, height: 900 },
  { width: 390, height: 844 },
])(
  "a report begins in the first third of a window $width wide, below at most four controls, and the next question is in reach (K1, V1)",
  async ({ width, height }, context) => {
    const { page } = await openReport(context, withReport(`${SECTIONS}\n\n${OPEN_POINTS}`), {
      viewport: { width, height },
    });
    await page.locator(".report-text h2").first().waitFor(SOON);
    expect((await boxOf(page, ".report-text h2")).y).toBeLessThan(height / 3);
    const controls = page.locator(".actions > .row").locator("button, summary").filter({ visible: true });
    expect(await controls.allInnerTexts()).toEqual(["Copy", "Download", "More"]);
    expect(await page.locator(".entry").first().isVisible()).toBe(false);
    const box = page.getByLabel("Ask a follow-up");
    const { y, height: boxHeight } = await boxOf(page, ".composer textarea");
    expect(y + boxHeight).toBeLessThanOrEqual(height);
    // A suggestion is written into the box, and asked only by its user.
    await page.getByRole("button", { name: "How do they age beyond ten years?" }).click();
    expect(await box.inputValue()).toBe("How do they age beyond ten years?");
    // What is typed scrolls nothing.
    const scrolled = await page.evaluate("scrollY");
    await box.pressSequentially(" And why?");
    expect(await page.evaluate("scrollY")).toBe(scrolled);
    await page.locator(".actions summary").first().click();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    await page.keyboard.press("Escape");
    expect(await page.getByRole("list", { name: "Suggested questions" }).getByRole("button").count()).toBe(1);
    // All controls have the same left edge.
    const lefts = await Promise.all(
      [".run-head h1", ".actions .row", ".report", ".composer textarea"].map((each) => boxOf(page, each)),
    );
    expect(new Set(lefts.map(({ x }) => Math.round(x))).size).toBe(1);
  },
);

test("the menus of a report close with Escape and by leaving them (K1)", async (context) => {
  const { page } = await openReport(context, withReport(SECTIONS));
  const menu = page.locator("details.menu").first();
  await menu.locator("summary").click(SOON);
  await page.getByRole("button", { name: "Download .md" }).focus();
  await page.keyboard.press("Escape");
  expect(await menu.getAttribute("open")).toBeNull();
  await page.locator("details.menu > summary:focus").waitFor(SOON);
  await menu.locator("summary").click();
  await page.locator("h1").click();
  expect(await menu.getAttribute("open")).toBeNull();
});
