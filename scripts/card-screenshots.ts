/** Screenshots of the run card in a chat: in both themes and both display modes, while running, completed and failed. */

import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import type { Browser } from "playwright-core";
import { openChat } from "../test/kit/chat/chat-host.ts";
import { FAILED_RUN, LONG_RUN } from "../test/kit/browser/sample-runs.ts";

const THEMES = ["light", "dark"] as const;
const MODES = { inline: { width: 820, height: 760 }, fullscreen: { width: 1_280, height: 800 } } as const;

interface Shots {
  client: Client;
  /** The id of an unfinished run. */
  running: string;
  directory: string;
}

export async function shootCards(browser: Browser, { client, running, directory }: Shots): Promise<void> {
  const { tools } = await client.listTools();
  const tool = tools.find(({ name }) => name === "check_research_status");
  if (tool === undefined) throw new Error("The tool of the card is not offered.");
  const states = { running, completed: LONG_RUN, failed: FAILED_RUN };
  const variants = THEMES.flatMap((theme) => (["inline", "fullscreen"] as const).map((mode) => ({ theme, mode })));
  for (const [state, task_id] of Object.entries(states)) {
    for (const { theme, mode } of variants) {
      const viewport = MODES[mode];
      const question = "How is the research going?";
      const chat = await openChat(browser, {
        client,
        tool,
        theme,
        displayMode: mode,
        question,
        browserOptions: { viewport },
      });
      await chat.sendInput({ task_id });
      await chat.card.locator(`.badge[data-status^=${state}]`).waitFor();
      if (state === "completed") await chat.card.locator(".report-text h2").first().waitFor();
      if (state === "running") await chat.card.locator(".entry[data-kind=search]").first().waitFor();
      // The frame gets its height from the card, which takes two frames of the browser.
      await chat.page.waitForTimeout(400);
      const path = join(directory, `app-${state}-${mode}-${theme}.png`);
      await chat.page.screenshot({ path, animations: "disabled", scale: "css" });
      await chat.page.context().close();
    }
  }
}
