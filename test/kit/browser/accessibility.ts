/** Accessibility faults of a page: what axe finds, and a page that is wider than the window. */

import axe from "axe-core";
import type { Page } from "playwright-core";

/** Waits for finite animations: what is appearing or being enabled has intermediate colours. */
const ANIMATIONS_FINISHED = `Promise.allSettled(
  document.getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().endTime < Infinity)
    .map(({ finished }) => finished),
)`;

export async function violations(page: Page): Promise<unknown> {
  await page.evaluate(axe.source);
  await page.evaluate(ANIMATIONS_FINISHED);
  const found = await page.evaluate(
    `axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"] })
      .then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`,
  );
  const wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
  return wide === true ? [found, "wider than the window"] : found;
}
