/** The notifications of the dashboard in a browser: a webhook is added, its secret shown once, tested and removed. */

import { expect, test } from "vitest";
import { browserOrSkip, enterPage } from "../kit/browser/browser.ts";
import { openHttpScene } from "../kit/server/http-server.ts";

test("a webhook is added on the page, its secret shown once, tested and removed (O4, O6)", async (context) => {
  const browser = await browserOrSkip(context);
  const scene = await openHttpScene(context, "good");
  const server = await scene.http();
  const { page, pageErrors } = await enterPage(browser, server);
  await page.getByRole("link", { name: "Notifications" }).click();
  await page.fill("#webhook-url", "http://192.168.1.5/hook");
  await page.getByRole("button", { name: "Add" }).click();
  await page.getByText("The address must begin with https://.").waitFor();
  await page.fill("#webhook-url", "https://192.168.1.5/hook?token=abc");
  await page.getByLabel("A budget has reached a threshold").uncheck();
  await page.getByRole("button", { name: "Add" }).click();
  const secret = page.getByLabel("The secret of the new webhook").locator("code");
  expect(await secret.textContent()).toMatch(/^whsec_[\w+/]{43}=$/);
  const card = page.getByLabel("Webhook https://192.168.1.5/…");
  await card.getByText("research has finished, research has failed").waitFor();
  await card.getByRole("button", { name: "Test" }).click();
  await card.getByText("The address leads to a private or reserved network.").waitFor();
  await page.reload();
  await card.waitFor();
  expect(await page.content()).not.toMatch(/whsec_|token=abc/);
  await card.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await card.waitFor({ state: "detached" });
  await page.reload();
  await page.locator("#webhook-url").waitFor();
  expect(await card.count()).toBe(0);
  expect(pageErrors).toEqual([]);
});
