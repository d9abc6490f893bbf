/** What a person tries in a client, and when its screen is worth reading. */

import { setTimeout as sleep } from "node:timers/promises";
import { DEMO_COURSE } from "../../simulator/demo/course.ts";
import { DEMO_REPORT, DEMO_SOURCES } from "../../simulator/demo/report.ts";
import type { ScenarioInput } from "../../simulator/scenario.ts";
import { CONVERSATION } from "./conversation.ts";
import type { ClientTerminal } from "./client-terminal.ts";
import type { Script, Step } from "./model.ts";
import { collect, opening, QUESTION } from "./script.ts";

interface Stage extends ClientTerminal {
  /** Keeps the screen under a title. */
  shoot(title: string): Promise<void>;
  /** Keeps what our server has received and stored. */
  showServer(): Promise<void>;
}

export interface Scene {
  name: string;
  scenario: ScenarioInput;
  settings?: Record<string, string>;
  /** A new one for each session, because it may remember. */
  script(): Script;
  play(stage: Stage): Promise<void>;
}

const MAX_MS = 120_000;
const ROUND_MS = 12_000;
const FIRST_SECONDS = 6_000;
/** Ends every scripted answer, so that it can be recognised on the screen. */
const MARK = "(The scripted model)";

const answer = (text: string): Step => ({ reply: { text: `${text} ${MARK}` } });

/** A client that continues a call in the background ends the turn, and asks again when the call has ended. */
function unlessInBackground(script: Script): Script {
  let isTold = false;
  return (turn) => {
    const inBackground = /moved to the background/.test(turn.exchanges.at(-1)?.output ?? "");
    if (!inBackground) return script(turn);
    if (isTold) return answer("They work down to about −28 °C if they are sized for it [1].");
    isTold = true;
    return { reply: { text: "It is still running; I will answer when it is done." } };
  };
}

/** One call, and then an answer in a sentence. */
const oneCall = (tool: string, input: Record<string, unknown>): Script =>
  opening(
    tool,
    input,
    unlessInBackground(() => answer("They work down to about −28 °C if they are sized for it [1].")),
  );

const researchScript = (): Script =>
  opening(
    "start_deep_research",
    { query: QUESTION },
    unlessInBackground((turn) => {
      const step = collect(turn);
      return step !== undefined && "text" in step.reply ? answer("The report is finished; it says … [1].") : step;
    }),
  );

const DEEP_SEARCH: ScenarioInput = {
  name: "lab",
  tasks: {
    deep_search: [{ latency_ms: ROUND_MS }],
    verify: [
      { round: 2, answer: "unverified", latency_ms: ROUND_MS },
      { answer: "verified", latency_ms: ROUND_MS },
    ],
  },
};

const RESEARCH: ScenarioInput = {
  name: "lab",
  interactions: {
    duration_ms: 480_000,
    speed: 8,
    english: true,
    course: DEMO_COURSE,
    report: DEMO_REPORT,
    sources: DEMO_SOURCES,
    parts: 1,
  },
};

/** Lets the client work for a while. */
const watch = (stage: Stage, ms: number): Promise<boolean> => stage.until(() => false, ms);

const QUIET_MS = 3_000;

/** Waits until the screen no longer changes. */
async function settle(stage: Stage): Promise<void> {
  let last = "";
  let since = Date.now();
  await stage.until((screen) => {
    if (screen !== last) since = Date.now();
    last = screen;
    return Date.now() - since >= QUIET_MS;
  }, 10 * QUIET_MS);
}

const answered = (stage: Stage): Promise<boolean> => stage.until((screen) => screen.includes(MARK), MAX_MS);

const called = (stage: Stage, calls: number): Promise<boolean> =>
  stage.until(() => stage.model.exchanges().length >= calls, MAX_MS);

const SEARCH: Scene = {
  name: "search",
  scenario: { name: "lab", latency_ms: 2_000 },
  script: () => oneCall("search", { query: QUESTION }),
  play: async (stage) => {
    await stage.ask(`Search the web: ${QUESTION}`);
    await answered(stage);
    await settle(stage);
    await stage.shoot("the answer");
    await stage.showServer();
    if (stage.detailsKey === undefined) return;
    await stage.key(stage.detailsKey);
    await settle(stage);
    await stage.shoot("the details");
  },
};

const DEEP: Scene = {
  name: "deep-search",
  scenario: DEEP_SEARCH,
  script: () => oneCall("deep_search", { query: QUESTION }),
  play: async (stage) => {
    await stage.ask(`Find out and verify: ${QUESTION}`);
    await watch(stage, FIRST_SECONDS);
    await stage.shoot("the first seconds");
    await watch(stage, ROUND_MS);
    await stage.shoot("in round 2");
    await watch(stage, ROUND_MS);
    await stage.shoot("in round 3");
    await answered(stage);
    await settle(stage);
    await stage.shoot("the answer");
  },
};

const RESEARCHED: Scene = {
  name: "research",
  scenario: RESEARCH,
  script: researchScript,
  play: async (stage) => {
    await stage.ask(`Do deep research: ${QUESTION}`);
    await watch(stage, FIRST_SECONDS);
    await stage.shoot("the first seconds");
    await called(stage, 1);
    await watch(stage, FIRST_SECONDS);
    await stage.shoot("while it waits");
    await answered(stage);
    await settle(stage);
    await stage.shoot("the answer");
  },
};

const confirmScene = (name: string, keys: readonly string[]): Scene => ({
  name,
  scenario: RESEARCH,
  settings: { RESEARCH_CONFIRM_ABOVE_USD: "0", RESEARCH_SYNC_WINDOW_MS: "0" },
  script: () => opening("start_deep_research", { query: QUESTION }, () => answer("The call has returned.")),
  play: async (stage) => {
    await stage.ask(`Do deep research: ${QUESTION}`);
    await stage.until((screen) => screen.includes("Start this research") || screen.includes(MARK), 30_000);
    await stage.shoot("the dialog");
    for (const key of keys) {
      await sleep(700);
      await stage.key(key);
    }
    await stage.until((screen) => screen.includes(MARK), 20_000);
    await settle(stage);
    await stage.shoot("afterwards");
    await stage.showServer();
  },
});

/** From the plan to the table, in one turn. */
const CONVERSED: Scene = {
  name: "conversation",
  scenario: { ...RESEARCH, interactions: { ...RESEARCH.interactions, usage_after_ms: 0, speed: 16 } },
  script: () => (turn) => {
    const step = CONVERSATION(turn);
    const isOver = step !== undefined && "text" in step.reply;
    return isOver ? answer("The table is finished: every cell has its sources.") : step;
  },
  play: async (stage) => {
    await stage.ask(`Plan a deep research, leave out Asia, then make a table: ${QUESTION}`);
    await called(stage, 1);
    await settle(stage);
    await stage.shoot("after the plan");
    await answered(stage);
    await settle(stage);
    await stage.shoot("the end");
    if (stage.detailsKey !== undefined) {
      await stage.key(stage.detailsKey);
      await settle(stage);
      await stage.shoot("the details");
    }
    await stage.showServer();
  },
};

const CANCEL: Scene = {
  name: "cancel",
  scenario: DEEP_SEARCH,
  script: () => oneCall("deep_search", { query: QUESTION }),
  play: async (stage) => {
    await stage.ask(`Find out and verify: ${QUESTION}`);
    await watch(stage, ROUND_MS + FIRST_SECONDS);
    await stage.shoot("before Esc");
    await stage.interrupt();
    await sleep(5_000);
    await stage.shoot("after Esc");
    await stage.showServer();
  },
};

/** Google has accepted the start, and the call has not returned. */
const CANCEL_START: Scene = {
  name: "cancel-start",
  scenario: RESEARCH,
  script: researchScript,
  play: async (stage) => {
    await stage.ask(`Do deep research: ${QUESTION}`);
    await watch(stage, FIRST_SECONDS + ROUND_MS);
    await stage.shoot("before Esc");
    await stage.interrupt();
    await sleep(5_000);
    await stage.shoot("after Esc");
    await stage.showServer();
  },
};

/** A question too vague to start, and its dialog closed. */
const CLARIFY: Scene = {
  name: "clarify",
  scenario: RESEARCH,
  settings: { RESEARCH_SYNC_WINDOW_MS: "0" },
  script: () => opening("start_deep_research", { query: "heat pumps" }, () => answer("The call has returned.")),
  play: async (stage) => {
    await stage.ask("Do deep research: heat pumps");
    await stage.until((screen) => /focus|as asked/i.test(screen) || screen.includes(MARK), 30_000);
    await settle(stage);
    await stage.shoot("the dialog");
    await stage.key("Escape");
    await stage.until((screen) => screen.includes(MARK), 20_000);
    await settle(stage);
    await stage.shoot("afterwards");
    await stage.showServer();
  },
};

const MENUS: Scene = {
  name: "menus",
  scenario: RESEARCH,
  settings: { RESEARCH_SYNC_WINDOW_MS: "0" },
  script: () =>
    opening("start_deep_research", { query: "Which heat pumps are quiet enough for terraced houses?" }, (turn) =>
      turn.exchanges.length === 1
        ? oneCall("search", { query: QUESTION })({ ...turn, exchanges: [] })
        : answer("Done."),
    ),
  play: async (stage) => {
    await stage.ask(`Search the web: ${QUESTION}`);
    await answered(stage);
    await settle(stage);
    const { server, prompts, resources } = stage.menus;
    await stage.ask(server);
    await settle(stage);
    await stage.shoot(server);
    for (const typed of [prompts, resources]) {
      if (typed === undefined) continue;
      for (const key of ["Escape", "C-u"]) {
        await stage.key(key);
        await settle(stage);
      }
      await stage.typeKeys(typed);
      await settle(stage);
      await stage.shoot(`typed: ${typed}`);
    }
  },
};

export const SCENES: readonly Scene[] = [
  SEARCH,
  DEEP,
  RESEARCHED,
  confirmScene("accept", ["Enter"]),
  confirmScene("decline", ["Escape"]),
  CLARIFY,
  CONVERSED,
  CANCEL,
  CANCEL_START,
  MENUS,
];
