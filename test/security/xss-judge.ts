/** Opens hostile pages in a real browser, triggers events on every element, and reports forbidden effects. */

import { once } from "node:events";
import { createServer } from "node:net";
import type { Browser, BrowserContext, Page, Route } from "playwright-core";
import type { Stage } from "./trial.ts";

export interface Judge {
  /** Marks a payload: a call that reports its execution, and a URL whose requests are watched. */
  marksFor(id: number): { run: string; address: string };
  /** Returns a sentence for each forbidden effect. */
  inspect(what: Inspected): Promise<string[]>;
}

export interface Inspected {
  /** Inserted into the page by script, as the real page does. */
  fragments?: readonly string[];
  /** Each is opened in a separate frame. */
  documents?: readonly string[];
  policy?: string;
}

const ORIGIN = "http://report.test";

/** Requests are detected by the browser's routing or by a server at the watched URL. */
export async function openJudge({ onTestFinished }: Stage, browser: Browser): Promise<Judge> {
  const reached: string[] = [];
  const canary = createServer((socket) => {
    reached.push("a connection to the watched address");
    socket.on("data", (data) => reached.push(`the watched address was asked: ${data.toString("latin1").slice(0, 60)}`));
    socket.on("error", () => undefined);
  });
  canary.listen(0, "127.0.0.1");
  await once(canary, "listening");
  onTestFinished(() => new Promise<void>((resolve) => canary.close(() => resolve())));
  const bound = canary.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : 0;
  return {
    marksFor: (id) => ({ run: `hit(${id})`, address: `http://127.0.0.1:${port}/p${id}` }),
    inspect: async (what) => {
      reached.length = 0;
      const context = await browser.newContext();
      try {
        const seen = await inspectPages(context, what);
        return [...new Set([...seen, ...reached])];
      } finally {
        await context.close();
      }
    },
  };
}

async function inspectPages(
  context: BrowserContext,
  { fragments = [], documents = [], policy }: Inspected,
): Promise<string[]> {
  const seen: string[] = [];
  await context.exposeBinding("hit", (_source, id: unknown) => void seen.push(`payload ${String(id)} ran`));
  const frames = documents.map((_document, index) => `<iframe src="/document/${index}"></iframe>`).join("\n");
  const pages = new Map([
    ["/", `<!doctype html><meta charset="utf-8"><title>t</title><div id="page"></div>${frames}`],
    ["/settled", ""],
    ...documents.map((text, index): [string, string] => [`/document/${index}`, text]),
  ]);
  await context.route(/.*/, (route) => serve(route, { pages, policy, seen }));
  const page = await context.newPage();
  watch(context, page, seen);
  await page.goto(`${ORIGIN}/`);
  await page.evaluate(`
    for (const html of ${JSON.stringify(fragments).replaceAll("<", "\\u003c")}) {
      const [once, twice] = [document.createElement("section"), document.createElement("section")];
      once.innerHTML = html;
      // Markup that changes when it is parsed a second time is an attack as well (mutation XSS).
      twice.innerHTML = once.innerHTML;
      document.getElementById("page").append(once, twice);
    }
  `);
  await settled(page);
  for (const frame of page.frames()) {
    seen.push(
      ...(await frame.evaluate<string[]>(TOUCH).catch((error: unknown) => [`a frame was left: ${String(error)}`])),
    );
  }
  await settled(page);
  return seen;
}

async function serve(
  route: Route,
  { pages, policy, seen }: { pages: Map<string, string>; policy: string | undefined; seen: string[] },
): Promise<void> {
  const { origin, pathname, search } = new URL(route.request().url());
  const body = origin === ORIGIN && search === "" ? pages.get(pathname) : undefined;
  if (body === undefined) {
    seen.push(`${route.request().url()} was asked for`);
    return route.abort();
  }
  const headers = policy === undefined ? {} : { "content-security-policy": policy };
  return route.fulfill({ body, contentType: "text/html; charset=utf-8", headers });
}

function watch(context: BrowserContext, page: Page, seen: string[]): void {
  context.on("page", (opened) => {
    if (opened !== page) seen.push("a window was opened");
  });
  context.on("dialog", (dialog) => {
    seen.push(`a dialog with ${dialog.message()}`);
    void dialog.dismiss().catch(() => undefined);
  });
  page.on("framenavigated", (frame) => {
    const { origin, pathname } = new URL(frame.url());
    const isOurs =
      origin === ORIGIN && (frame.parentFrame() === null ? pathname === "/" : pathname.startsWith("/document/"));
    if (!isOurs) seen.push(`a page went to ${frame.url()}`);
  });
}

/** When this request has been answered, earlier ones have been answered or blocked, and their handlers have run. */
async function settled(page: Page): Promise<void> {
  const turn = `(async () => {
    for (let time = 0; time < 3; time += 1) {
      await fetch("/settled");
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    }
  })()`;
  await page.evaluate(turn).catch(() => undefined);
}

/**
 * Triggers every event that a reader can cause, on every element. Links to the web that open in a new window are
 * allowed and not followed.
 */
const TOUCH = `(() => {
  const seen = [];
  const mayBe = (link) => !link.hasAttribute("href") || link.getAttribute("href").startsWith("#") || (/^https?:$/.test(link.protocol) &&
    link.host !== location.host && link.target === "_blank" && link.rel === "noopener noreferrer nofollow" &&
    link.username === "" && link.referrerPolicy === "no-referrer" && !link.hasAttribute("ping"));
  addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link !== null && mayBe(link)) event.preventDefault();
  }, true);
  const own = [...document.querySelectorAll("section *, main *")];
  const strange = "script, style, iframe, frame, object, embed, svg, math, form, input, button, select, textarea, base, meta, link, template, img, video, audio, dialog, picture";
  const ids = new Map();
  for (const element of own) {
    if (element.matches(strange)) seen.push("there is a " + element.localName + ": " + element.outerHTML.slice(0, 80));
    for (const { name } of element.attributes) {
      if (/^on|^style$|^name$|^src|^ping$|^download$|:/.test(name)) seen.push("there is a " + name + ": " + element.outerHTML.slice(0, 80));
    }
    if (element.id !== "" && !/^(?:s-[a-z0-9-]+|cite-\\d+-\\d+|fn-\\d+|fnref-\\d+-\\d+|source-\\d+|contents-title|sources-title|about-title)$/.test(element.id)) seen.push("there is the id " + element.id);
    if (element.localName === "a" && !mayBe(element)) seen.push("there is a link to " + element.getAttribute("href"));
  }
  for (const element of own) {
    for (const type of ["pointerover", "mouseover", "mouseenter", "mousemove", "pointerdown", "mousedown", "auxclick", "contextmenu"]) {
      element.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true }));
    }
    element.focus?.();
    element.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
    element.blur?.();
  }
  return seen;
})()`;
