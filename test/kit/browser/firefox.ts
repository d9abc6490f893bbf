/** Opens Debian's Firefox over WebDriver BiDi, which Playwright cannot do with this version, and closes it after the test. */

import { launch, ProtocolError, type Browser, type Page } from "puppeteer-core";
import { expect } from "vitest";
import { z } from "zod";
import { ensureSystemPackages } from "../../../scripts/system-packages.ts";
import type { RunningHttpServer } from "../server/http-server.ts";

/** Requests of Firefox itself end at a closed port of this machine; it never uses a proxy for the machine's own addresses. */
const LOOPBACK_ONLY = {
  "network.proxy.type": 1,
  "network.proxy.http": "127.0.0.1",
  "network.proxy.http_port": 9,
  "network.proxy.ssl": "127.0.0.1",
  "network.proxy.ssl_port": 9,
  "network.dns.disabled": true,
};

/** Returns undefined if Firefox is not installed; the test is then skipped, which is a failure under CI. */
export async function openFirefox({
  onTestFinished,
}: {
  onTestFinished: (end: () => Promise<void>) => void;
}): Promise<Browser | undefined> {
  const packages = ["firefox-esr", "fonts-dejavu-core"];
  if ((await ensureSystemPackages(packages, { commands: ["firefox-esr"] })) === "missing") return undefined;
  const browser = await launch({
    browser: "firefox",
    executablePath: "/usr/bin/firefox-esr",
    extraPrefsFirefox: LOOPBACK_ONLY,
    timeout: 60_000,
  });
  onTestFinished(() => browser.close());
  return browser;
}

/** Signs in as users do, through a one-time link. `pageErrors` collects exceptions and messages of the security policy. */
export async function enterWithFirefox(
  browser: Browser,
  server: Pick<RunningHttpServer, "url" | "request">,
): Promise<{ page: Page; pageErrors: string[] }> {
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await resize(page, { width: 1_280, height: 900 });
  const pageErrors: string[] = [];
  page.on("pageerror", (error) => pageErrors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" || /Content-Security-Policy/.test(message.text())) pageErrors.push(message.text());
  });
  const link = await server.request("/api/links", { method: "POST" });
  const { path } = z.object({ path: z.string() }).parse(await link.json());
  // The page behind the link goes on to the dashboard, which Firefox 140 ESR reports as an aborted navigation.
  await tolerating("NS_BINDING_ABORTED", page.goto(new URL(path, server.url).href));
  await page.waitForSelector("main h1");
  return { page, pageErrors };
}

/** Firefox 140 ESR sets the size but does not know the orientation, which Puppeteer sends with it. */
export async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  await tolerating("setScreenOrientationOverride", page.setViewport(size));
  await expect.poll(() => page.evaluate("innerWidth")).toBe(size.width);
}

const tolerating = (reason: string, work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => {
    if (!(error instanceof ProtocolError) || !error.message.includes(reason)) throw error;
  });
