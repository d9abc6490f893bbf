/** Files on the page: chosen beside the question, uploaded with the start, listed with the run. */

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { draftResearch, SUBMIT } from "../kit/browser/ask-form.ts";
import { browserInstalled, closePages, enterPage, sharedBrowser } from "../kit/browser/browser.ts";
import { openPageServer } from "../kit/browser/page-api.ts";
import { QUERY, SLOW } from "../kit/server/research.ts";

let browser: Browser;
const installed = await browserInstalled();

describe.skipIf(installed === "missing")("files for a research run", () => {
  beforeAll(async () => {
    browser = await sharedBrowser();
  });
  afterAll(() => closePages(browser));

  test("are chosen, removed and uploaded with the start, and a wrong one is explained (V3)", async (context) => {
    const scene = await openPageServer(context, SLOW);
    const { page, pageErrors } = await enterPage(browser, await scene.serve());
    context.onTestFinished(() => page.context().close());
    await page.goto("/");
    await draftResearch(page, QUERY);
    const file = (name: string, content: string) => ({
      name,
      mimeType: "application/octet-stream",
      buffer: Buffer.from(content),
    });
    await page.setInputFiles("#attachments", [file("fake.pdf", "no PDF"), file("notes.md", "# Notes\n")]);
    await page.locator(`${SUBMIT}:enabled`).click();
    await page.getByRole("alert").getByText("fake.pdf is not a PDF, although its name says so.").waitFor();
    expect(scene.posts()).toBe(0);
    await page.getByRole("button", { name: "Remove fake.pdf" }).click();
    await page.locator(`${SUBMIT}:enabled`).click();
    await page.waitForURL("**/runs/*");
    const facts = page.locator(".facts");
    if ((await facts.getAttribute("open")) === null) await facts.locator("summary").click();
    await facts.getByText("notes.md (markdown, 8 bytes").waitFor();
    const start = scene.gemini.ledger.entries().find(({ path }) => path.endsWith("/interactions"));
    expect(start?.attachments).toMatchObject([{ type: "document", mimeType: "text/plain", bytes: 8 }]);
    expect([scene.posts(), pageErrors]).toEqual([1, []]);
  });
});
