/** Opens Debian's Chromium for tests that need a real browser. */

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type LaunchOptions, type Page } from "playwright-core";
import type { TestContext } from "vitest";
import { z } from "zod";
import { ensureSystemPackages } from "../../../scripts/system-packages.ts";
import type { RunningHttpServer } from "../server/http-server.ts";

/** Without an installed font, text has no size and cannot be clicked. */
export const browserInstalled = (): Promise<"ready" | "missing"> =>
  ensureSystemPackages(["chromium", "fonts-dejavu-core"], { commands: ["chromium"] });

const ARGUMENTS = [
  // Chromium has no sandbox as root or in a container without user namespaces.
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-quic",
  "--no-first-run",
  // Chromium's own background requests would be counted as requests of the page.
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // As for Node.js processes (test/kit/loopback-only): no name beyond loopback is looked up.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE [::1]",
];

export const startBrowser = ({ args = [], ...options }: LaunchOptions = {}): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath(), args: [...ARGUMENTS, ...args], ...options });

let shared: Browser | undefined;

/**
 * The browser of this worker process, which its test files share: a start takes more than a second of processor time. It
 * ends with the process; a test closes its own pages.
 */
export async function sharedBrowser(): Promise<Browser> {
  if (shared?.isConnected() !== true) shared = await startBrowser();
  return shared;
}

/** Cookies and stored data belong to a context, so nothing remains for the next test. */
export async function closePages(browser: Browser): Promise<void> {
  await Promise.all(browser.contexts().map((context) => context.close()));
}

/**
 * Returns undefined if no browser is installed; the test is then skipped, which is a failure under CI. With more
 * arguments it is a browser of its own.
 */
export async function openBrowser(
  { onTestFinished }: { onTestFinished: (end: () => Promise<void>) => void },
  more: string[] = [],
): Promise<Browser | undefined> {
  if ((await browserInstalled()) === "missing") return undefined;
  const browser = more.length === 0 ? await sharedBrowser() : await startBrowser({ args: more });
  onTestFinished(() => (more.length === 0 ? closePages(browser) : browser.close()));
  return browser;
}

/** Like `openBrowser`; without Chromium the test is skipped. */
export async function browserOrSkip(context: TestContext): Promise<Browser> {
  const browser = await openBrowser(context);
  if (browser === undefined) return context.skip("there is no chromium");
  return browser;
}

function chromiumPath(): string {
  const paths = (process.env["PATH"] ?? "").split(delimiter).map((directory) => join(directory, "chromium"));
  return paths.find(isExecutable) ?? "/usr/bin/chromium";
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface OpenedPage {
  page: Page;
  /** Exceptions of the page and violations of its content security policy. */
  pageErrors: string[];
  /** URLs of requests to other origins. */
  otherOrigins: string[];
}

export async function openPage(
  browser: Browser,
  baseURL: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({ baseURL, viewport: { width: 1_280, height: 900 }, ...options });
  // A busy machine is slow, which is not a failure.
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const pageErrors: string[] = [];
  const otherOrigins: string[] = [];
  page.on("pageerror", (error) => pageErrors.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy|TrustedHTML/.test(message.text())) pageErrors.push(message.text());
  });
  context.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith("http") && url.origin !== new URL(baseURL).origin) otherOrigins.push(request.url());
  });
  return { page, pageErrors, otherOrigins };
}

/** Signs in as users do, through a one-time link. */
export async function enterPage(
  browser: Browser,
  server: Pick<RunningHttpServer, "url" | "request">,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const opened = await openPage(browser, server.url, options);
  const link = await server.request("/api/links", { method: "POST" });
  await opened.page.goto(z.object({ path: z.string() }).parse(await link.json()).path);
  await opened.page.locator("main h1").waitFor();
  return opened;
}
