/** The form of the page that asks a question. */

import type { Page } from "playwright-core";

export const SUBMIT = ".start button[type=submit]";

/** Chooses Deep Research and enters the question. */
export async function draftResearch(page: Page, question: string): Promise<void> {
  await page.getByRole("radio", { name: "Deep research", exact: false }).first().check();
  await page.fill("#question", question);
}
