/** Accessibility of every view: axe in both themes and on narrow screens, keyboard, and enlarged text. */

import axe from "axe-core";
import type { Browser, Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { browserInstalled, closePages, enterPage, openPage, sharedBrowser } from "../kit/browser/browser.ts";
import { openHttpScene, type RunningHttpServer } from "../kit/server/http-server.ts";
import { LONG_RUN, sampleMonths, sampleStatuses, insertSampleRuns, UNKNOWN_RUN } from "../kit/browser/sample-runs.ts";
import { storeCheckedRuns } from "../kit/sites/contradicted-run.ts";
import { type View, VIEWS, type World } from "../kit/browser/page-views.ts";

const TIMEOUT_MS = 300_000;

let browser: Browser;
let server: RunningHttpServer;
let world: World;
const endings: (() => Promise<void> | void)[] = [];

/** A run whose plan waits for approval. */
let planned: string;

/** With an answer of the server that this test makes up. */
const withAnswer = (path: string, api: string, json: unknown, seen: string) => async (page: Page) => {
  await page.route(`**/api/**${api}`, (route) => route.fulfill({ json }));
  await page.goto(path);
  await page.locator(seen).first().waitFor();
};

const SCHEDULE = {
  schedule_id: "a1b2c3d4",
  query: "Who builds long-duration storage?",
  when: "every week on Monday at 07:00",
  every: "week",
  on: "monday",
  at: "07:00",
  time_zone: "Europe/Oslo",
  used_usd: 1.4,
  budget_usd: 20,
};
const SCHEDULES = {
  schedules: [
    { ...SCHEDULE, state: "active", next_at: "2031-03-03T06:00:00.000Z", last: { task_id: LONG_RUN } },
    { ...SCHEDULE, schedule_id: "e5f6a7b8", state: "paused", problem: "The budget has no room for another run." },
  ],
};

const SOURCE = { title: "Grid storage in 2030", url: "https://storage.example.org/2030" };
const CHANGES = {
  message: "1 figure changed, 1 finding is new, 1 is gone; 1 source is new.",
  earlier: { task_id: LONG_RUN, query: "Who builds long-duration storage?", created_at: "2030-11-05T04:03:02.000Z" },
  changed: [{ before: "It costs $120 per kWh.", now: "It costs $90 per kWh." }],
  added: ["Two plants have opened."],
  gone: ["No plant has opened."],
  new_sources: [SOURCE],
  gone_sources: [],
};

/** For states that last only an instant, the test changes the response. */
const withResponse = (path: string, change: (answer: Answer) => Answer, seen: string) => async (page: Page) => {
  const address = "**/api/runs?*";
  const answer = async (route: Route): Promise<void> => {
    const response = await route.fetch();
    await route.fulfill({ json: change(runPage.parse(await response.json())) });
  };
  await page.route(address, answer);
  await page.goto(path);
  await page.locator(seen).first().waitFor();
};

const runPage = z.looseObject({ runs: z.array(z.looseObject({})), total: z.number() });
type Answer = z.infer<typeof runPage>;

const stalled = { stalled_since: new Date(0).toISOString(), progress: 40 };
const ALL_STATES = [
  { status: "pending", completed_at: undefined },
  { status: "running", completed_at: undefined },
  { status: "running_async", completed_at: undefined, ...stalled },
];
const withAllStates = (answer: Answer): Answer => ({
  ...answer,
  runs: answer.runs.map((run, index) => ({ ...run, ...ALL_STATES[index - 6] })),
});

const MORE: Pick<View, "name" | "open">[] = [
  { name: "all states", open: withResponse("/", withAllStates, "tr[data-status=pending]") },
  {
    name: "empty",
    open: withResponse(
      "/",
      (answer) => ({ ...answer, runs: [], counts: {}, total: 0, archived: 0 }),
      "text=Nothing asked yet",
    ),
  },
  {
    name: "nothing found",
    open: async (page) => {
      await page.goto("/?text=zzzzzz");
      await page.getByText("No results for").waitFor();
    },
  },
  {
    name: "citation card",
    open: async (page) => {
      await page.goto(`/runs/${LONG_RUN}`);
      await page.locator("#cite-2-1").hover();
      await page.locator(".citation-card").waitFor();
    },
  },
  {
    name: "restart",
    open: async (page) => {
      await page.goto(`/runs/${UNKNOWN_RUN}`);
      await page.getByRole("button", { name: "Start again…" }).click();
    },
  },
  { name: "plan", open: async (page) => openAt(page, `/runs/${planned}`, ".plan-steps textarea") },
  { name: "first run", open: withAnswer("/", "/key", { is_missing: true, file: "~/config.json" }, "#key") },
  { name: "no schedules", open: async (page) => openAt(page, "/schedules", "text=Nothing is repeated") },
  { name: "schedules", open: withAnswer("/schedules", "/schedules", SCHEDULES, ".schedules article") },
  {
    name: "changed schedule",
    open: async (page) => {
      await withAnswer("/schedules", "/schedules", SCHEDULES, ".schedules article")(page);
      await page.getByRole("button", { name: "Change…" }).first().click();
      await page.locator("input[type=time]").waitFor();
    },
  },
  { name: "repeat", open: async (page) => openAt(page, `/schedules?repeat=${LONG_RUN}`, "input[type=time]") },
  { name: "notifications", open: async (page) => openAt(page, "/notifications", "section.card") },
  {
    name: "changes",
    open: withAnswer(`/runs/${LONG_RUN}/changes`, "/changes", CHANGES, ".changes table"),
  },
  {
    name: "nowhere",
    open: async (page) => {
      await page.goto("/runs/00000000-0000-4000-8000-999999999999");
      await page.getByRole("alert").waitFor();
    },
  },
];

async function openAt(page: Page, path: string, seen: string): Promise<void> {
  await page.goto(path);
  await page.locator(seen).first().waitFor();
}

const EVERY_VIEW = [...VIEWS, ...MORE];

const found = z.object({
  violations: z.array(
    z.object({ id: z.string(), impact: z.string().nullable(), nodes: z.array(z.object({ html: z.string() })) }),
  ),
});

/** The violations that axe rates as at least moderate, as sentences. */
async function judge(page: Page, name: string): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = found.parse(await page.evaluate("axe.run({ resultTypes: ['violations'] })"));
  return violations
    .filter(({ impact }) => impact !== "minor")
    .map(
      ({ id, impact, nodes }) => `${name}: ${impact} ${id}: ${nodes.map(({ html }) => html.slice(0, 90)).join(" | ")}`,
    );
}

/** How far the page can be scrolled sideways. */
const SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

const installed = await browserInstalled();

describe.skipIf(installed === "missing")("accessibility of the page", () => {
  beforeAll(async () => {
    const context = { onTestFinished: (end: () => Promise<void> | void) => void endings.unshift(end) };
    const scene = await openHttpScene(context, { name: "page", interactions: { speed: 1, duration_ms: 3_600_000 } });
    const now = Date.now();
    await insertSampleRuns(scene.configDir, [...sampleStatuses(now), ...sampleMonths(12, now)]);
    const checked = await storeCheckedRuns(context, scene);
    server = await scene.http({
      env: { RESEARCH_SYNC_WINDOW_MS: "0", RESEARCH_POLL_INTERVAL_MS: "100", RESEARCH_CONFIRM_ABOVE_USD: "0.5" },
    });
    const post = async (path: string, body: object): Promise<unknown> => {
      const headers = { "content-type": "application/json" };
      return (await server.request(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
    };
    const start = async (query: string, more: object): Promise<string> => {
      const agreed = { operation: "start_deep_research", input: "" };
      const started = await post("/api/research", { query, agreed, ...more });
      return z.object({ task_id: z.string() }).parse(started).task_id;
    };
    const running = await start("Who builds long-duration storage?", {});
    planned = await start("How do cities store heat over the summer?", { plan: true });
    await post("/api/webhooks", {
      url: "https://hooks.example.org/research",
      shape: "slack",
      events: ["research.failed"],
    });
    world = { running, ...checked };
    scene.gemini.skip(600_000);
    browser = await sharedBrowser();
    endings.unshift(() => closePages(browser));
  }, TIMEOUT_MS);
  afterAll(async () => {
    for (const end of endings) await end();
  });

  // Colours do not depend on the width, nor positions on the theme.
  const LOOKS = [
    ["light", 1_280],
    ["dark", 360],
  ] as const;
  for (const [colorScheme, width] of LOOKS) {
    test(
      `axe finds no fault in any view, and nothing moves where that is not wanted, ${colorScheme}, ${width} wide`,
      { timeout: TIMEOUT_MS },
      async () => {
        const look = {
          bypassCSP: true,
          colorScheme,
          reducedMotion: "reduce",
          viewport: { width, height: 900 },
        } as const;
        const { page } = await enterPage(browser, server, look);
        const seen: string[] = [];
        for (const { name, open } of EVERY_VIEW) {
          await open(page, world);
          seen.push(...(await judge(page, name)));
          seen.push(...(await page.evaluate<string[]>(MOVING)).map((what) => `${name} moves: ${what}`));
          await page.unrouteAll({ behavior: "ignoreErrors" });
        }
        const stranger = await openPage(browser, server.url, look);
        await stranger.page.goto("/");
        seen.push(...(await judge(stranger.page, "sign-in")));
        // For everyone else something does: otherwise the check above would find nothing anywhere.
        await page.emulateMedia({ reducedMotion: "no-preference" });
        expect(await page.evaluate(MOVING)).not.toEqual([]);
        await Promise.all([page, stranger.page].map((one) => one.context().close()));
        expect(seen).toEqual([]);
      },
    );
  }

  test(
    "nothing needs horizontal scrolling at 320 pixels, nor with text of twice the size",
    { timeout: TIMEOUT_MS },
    async () => {
      const { page } = await enterPage(browser, server, { bypassCSP: true });
      const wide: string[] = [];
      for (const { name, open } of EVERY_VIEW) {
        await page.setViewportSize({ width: 320, height: 640 });
        await page.evaluate("document.documentElement.style.fontSize = ''");
        await open(page, world);
        if (Number(await page.evaluate(SIDEWAYS)) > 0) wide.push(`${name} at 320 pixels`);
        await page.setViewportSize({ width: 1_280, height: 800 });
        await page.evaluate("document.documentElement.style.fontSize = '200%'");
        if (Number(await page.evaluate(SIDEWAYS)) > 0) wide.push(`${name} at twice the size`);
        await page.unrouteAll({ behavior: "ignoreErrors" });
      }
      await page.context().close();
      expect(wide).toEqual([]);
    },
  );

  test.each([
    ["home", "/", ".run-link"],
    ["a report", `/runs/${LONG_RUN}`, ".report-text table"],
    ["the figures", "/costs", ".figures table"],
    ["the notifications", "/notifications", "#webhook-url"],
    ["a schedule", `/schedules?repeat=${LONG_RUN}`, "input[type=time]"],
  ])(
    "every control of %s is reached by Tab, with a visible focus",
    { timeout: TIMEOUT_MS },
    async (_what, path, sight) => {
      const { page } = await enterPage(browser, server, { bypassCSP: true, reducedMotion: "reduce" });
      await page.goto(path);
      await page.locator(sight).first().waitFor();
      const expected = await page.evaluate<string[]>(MARK_CONTROLS);
      const reached = new Set<string>();
      const unseen: string[] = [];
      for (let step = 0; step < expected.length + 20; step += 1) {
        await page.keyboard.press("Tab");
        const { mark, problem } = focusSchema.parse(await page.evaluate(FOCUS));
        reached.add(mark);
        if (problem !== undefined) unseen.push(problem);
      }
      await page.context().close();
      expect(expected.filter((mark) => !reached.has(mark))).toEqual([]);
      expect(unseen).toEqual([]);
    },
  );
});

/** Elements that would move, fade or scroll for longer than a blink. */
const MOVING = `[...document.querySelectorAll("*")].flatMap((one) => {
  const { transitionDuration, animationName, animationDuration, scrollBehavior } = getComputedStyle(one);
  const lasts = (durations) => durations.split(",").some((duration) => parseFloat(duration) > 0.001);
  const moves = lasts(transitionDuration) || (animationName !== "none" && lasts(animationDuration));
  return moves || scrollBehavior === "smooth" ? [one.outerHTML.slice(0, 70)] : [];
})`;

const focusSchema = z.object({ mark: z.string(), problem: z.string().optional() });

/** Numbers all focusable controls; of radio buttons only the selected one is a tab stop. */
const MARK_CONTROLS = `(() => {
  const controls = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")];
  const usable = controls.filter((one) => !one.disabled && one.checkVisibility({ visibilityProperty: true }) &&
    one.tabIndex >= 0 && !(one.type === "radio" && !one.checked));
  return usable.map((one, index) => (one.dataset.walked = index + " " + one.outerHTML.slice(0, 70)));
})()`;

/**
 * The focus ring may be drawn on a substitute for the control: its label, the text beside a hidden box, or its whole
 * row.
 */
const FOCUS = `(async () => {
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const one = document.activeElement;
  if (one === null || one === document.body) return { mark: "the browser" };
  const places = [one, one.nextElementSibling, one.closest("label")].filter((place) => place !== null);
  const looks = [...places.map((place) => getComputedStyle(place)), getComputedStyle(one, "::after")];
  const isRinged = looks.some(({ outlineStyle, outlineWidth, boxShadow }) =>
    (outlineStyle !== "none" && parseFloat(outlineWidth) >= 2) || boxShadow !== "none");
  const { top, bottom, left, right } = one.getBoundingClientRect();
  const isThere = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
  const mark = one.dataset.walked ?? one.outerHTML.slice(0, 70);
  if (!isRinged) return { mark, problem: "no ring: " + mark };
  return isThere ? { mark } : { mark, problem: "out of sight: " + mark };
})()`;
