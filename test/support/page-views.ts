/** Every view of the page in every state worth a look, and how one gets there. */

import type { Page } from "playwright-core";
import { FAILED_RUN, LONG_RUN, PARTIAL_RUN, UNKNOWN_RUN } from "./page-story.ts";

const NEXT_QUESTION = "Which countries phase out gas boilers in existing homes, and what do owners get for it?";

export interface View {
  name: string;
  says: string;
  open: (page: Page, world: World) => Promise<void>;
}

/** What a view may need to know. */
export interface World {
  /** The id of a run that goes on. */
  running: string;
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
    await page
      .locator(seen)
      .first()
      .evaluate((element) => element.scrollIntoView({ block: "start" }));
  };

export const VIEWS: View[] = [
  {
    name: "runs",
    says: "The list: states, progress and cost, kept true while it is open.",
    open: goto("/", ".runs tr"),
  },
  {
    name: "search",
    says: "A search over all questions and reports.",
    open: goto("/?text=grid+batteries", ".found mark"),
  },
  {
    name: "start",
    says: "A start shows its estimate first.",
    open: async (page) => {
      await page.goto("/start");
      await page.fill("#question", NEXT_QUESTION);
      // Not whether it can be pressed: above a limit it also wants a yes.
      await page.locator(".start button[type=submit]", { hasText: "about" }).waitFor();
    },
  },
  {
    name: "running",
    says: "A run on its way: thoughts and searches as they come.",
    open: async (page, { running }) => goto(`/runs/${running}`, ".entry[data-kind=thought]")(page),
  },
  {
    name: "cancel",
    says: "Cancelling asks first.",
    open: async (page, { running }) => {
      await goto(`/runs/${running}`, ".entry[data-kind=thought]")(page);
      await page.getByRole("button", { name: "Cancel…" }).click();
    },
  },
  { name: "report", says: "A finished run with its report.", open: goto(`/runs/${LONG_RUN}`, ".report-text table") },
  {
    name: "report-table",
    says: "Tables, citations and the contents beside them.",
    open: scrolledTo(`/runs/${LONG_RUN}#s-what-it-costs`, "[data-reached]"),
  },
  { name: "sources", says: "Sources and where they are cited.", open: scrolledTo(`/runs/${LONG_RUN}`, "#sources") },
  { name: "timeline", says: "Activity log.", open: scrolledTo(`/runs/${LONG_RUN}`, ".timeline") },
  { name: "failed", says: "A run that failed, and what can be done.", open: goto(`/runs/${FAILED_RUN}`, ".actions") },
  { name: "partial", says: "A cancelled run and what was kept.", open: goto(`/runs/${PARTIAL_RUN}`, ".report-text") },
  {
    name: "unknown",
    says: "An unconfirmed start.",
    open: goto(`/runs/${UNKNOWN_RUN}`, ".actions"),
  },
  {
    name: "adopt",
    says: "Linking a run that Google started.",
    open: async (page) => {
      await goto(`/runs/${UNKNOWN_RUN}`, ".actions")(page);
      await page.getByRole("button", { name: "Link existing run…" }).click();
    },
  },
  { name: "figures", says: "Cost, duration and estimates over time.", open: goto("/figures", ".plot canvas") },
  {
    name: "figures-estimate",
    says: "Estimate against actual.",
    open: scrolledTo("/figures", ".figure.square"),
  },
  {
    name: "help",
    says: "The keys of the page.",
    open: async (page) => {
      await goto("/", ".runs tr")(page);
      await page.keyboard.press("?");
      await page.locator("dialog").waitFor();
    },
  },
];
