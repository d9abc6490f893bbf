/** Buttons in the menus of a run, which are opened first. */

import type { Locator, Page } from "playwright-core";

export async function inMenu(page: Page, menu: "Download" | "More", name: string): Promise<Locator> {
  const details = page.locator(".actions details.menu", { has: page.locator("summary", { hasText: menu }) });
  if ((await details.getAttribute("open")) === null) await details.locator("summary").click();
  return details.getByRole("button", { name, exact: true });
}
