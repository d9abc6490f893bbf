/** The views of the page in every relevant state, and the steps that open each of them. */

import type { Page } from "playwright-core";
import { FAILED_RUN, LONG_RUN, PARTIAL_RUN, UNKNOWN_RUN } from "./sample-runs.ts";
import { draftResearch } from "./ask-form.ts";

const NEXT_QUESTION = "Which countries phase out gas boilers in existing homes, and what do owners get for it?";

export interface View {
  name: string;
  /** Of its picture in the documentation; without one there is none. */
  caption?: string;
  open: (page: Page, world: World) => Promise<void>;
}

/** The data that the views depend on. */
export interface World {
  /** The id of an unfinished run. */
  running: string;
  /** Runs whose page says something else, checked without and with a judge. */
  contradicted: string;
  judged: string;
}

const goto =
  (path: string, seen: string) =>
  async (page: Page): Promise<void> => {
    await page.goto(path);
    await page.locator(seen).first().waitFor();
  };

const scrolledTo =
  (path: string, seen: string) =>
  async (page: Page): Promise<void> => {
    await goto(path, seen)(page);
    await scrollTo(page, seen);
  };

const scrollTo = (page: Page, seen: string): Promise<void> =>
  page
    .locator(seen)
    .first()
    .evaluate((element) => element.scrollIntoView({ block: "start" }));

/** The card of a checked citation. */
async function cardOf(page: Page, taskId: string, which: "first" | "last"): Promise<void> {
  await goto(`/runs/${taskId}`, ".conflicts")(page);
  await page.locator(".report-text .cite a[data-verdict]")[which]().hover();
  await page.locator(".citation-card .pair").waitFor();
}

export const VIEWS: View[] = [
  {
    name: "home",
    caption: "The question, and below it everything asked so far, updated live.",
    open: goto("/", ".runs tr"),
  },
  {
    name: "search",
    open: goto("/?text=grid+batteries", ".runs mark"),
  },
  {
    name: "start",
    caption: "The estimate before a start.",
    open: async (page) => {
      await page.goto("/");
      await draftResearch(page, NEXT_QUESTION);
      // The button is not necessarily enabled: above the cost limit it also needs a confirmation.
      await page.locator(".start button[type=submit]", { hasText: "about" }).waitFor();
    },
  },
  {
    name: "running",
    caption: "A run in progress, with its thoughts and searches.",
    open: async (page, { running }) => goto(`/runs/${running}`, ".entry[data-kind=thought]")(page),
  },
  {
    name: "cancel",
    open: async (page, { running }) => {
      await goto(`/runs/${running}`, ".entry[data-kind=thought]")(page);
      await page.getByRole("button", { name: "Cancel…" }).click();
    },
  },
  {
    name: "report",
    caption: "A report with its contents and sources.",
    open: goto(`/runs/${LONG_RUN}`, ".report-text table"),
  },
  {
    name: "conversation",
    caption: "A follow-up below its report, what to ask next, and the box for it.",
    open: async (page) => {
      await goto(`/runs/${LONG_RUN}`, "#follow-ups")(page);
      await page.getByText("Loading the report…").waitFor({ state: "detached" });
      await scrollTo(page, "#follow-ups");
    },
  },
  {
    name: "report-table",
    open: scrolledTo(`/runs/${LONG_RUN}#s-what-it-costs`, "[data-reached]"),
  },
  {
    name: "sources",
    open: scrolledTo(`/runs/${LONG_RUN}`, "#sources"),
  },
  {
    name: "conflict",
    caption: "The page that is cited says another figure.",
    open: async (page, { contradicted }) => cardOf(page, contradicted, "first"),
  },
  {
    name: "conflict-judged",
    caption: "A model's opinion on a sentence that the page says in other words.",
    open: async (page, { judged }) => cardOf(page, judged, "last"),
  },
  { name: "timeline", open: scrolledTo(`/runs/${LONG_RUN}`, ".timeline") },
  { name: "failed", caption: "A failed run and what you can do.", open: goto(`/runs/${FAILED_RUN}`, ".actions") },
  {
    name: "partial",
    open: goto(`/runs/${PARTIAL_RUN}`, ".report-text"),
  },
  {
    name: "unknown",
    caption: "A start of which Google did not say whether it was accepted, and its three choices.",
    open: goto(`/runs/${UNKNOWN_RUN}`, ".actions"),
  },
  {
    name: "adopt",
    open: async (page) => {
      await goto(`/runs/${UNKNOWN_RUN}`, ".actions")(page);
      await page.getByRole("button", { name: "Use Google's run…" }).click();
    },
  },
  { name: "costs", caption: "What was spent, by day, kind and model.", open: goto("/costs", ".figures table") },
];
