/** A scene for background research: a simulated agent that takes milliseconds, and direct access to the database. */

import { join } from "node:path";
import type { SQLInputValue } from "node:sqlite";
import { expect } from "vitest";
import type { ScenarioInput } from "../../../simulator/scenario.ts";
import { copyTemplate, sqlOn } from "../store/databases.ts";
import { type Ending, openScene, type Scene } from "./scene.ts";
import type { RunningServer, ToolResult } from "./server.ts";
import { waitFor } from "../wait-for.ts";

export type Interactions = NonNullable<ScenarioInput["interactions"]>;
export type CreateFault = NonNullable<NonNullable<Interactions["create"]>[number]["fault"]>;
export type PollFault = NonNullable<NonNullable<Interactions["get"]>[number]["fault"]>;

export interface ResearchScene extends Scene {
  /** The number of starts that reached Google, accepted or not. */
  posts(): number;
  /** The number of charged starts. */
  accepted(): number;
  /** Changes the scenario of later requests. */
  play(interactions: Interactions): void;
  /** Queries or changes the database directly. */
  sql<Row = Record<string, unknown>>(statement: string, ...values: SQLInputValue[]): Row[];
}

export const QUERY = "How do heat pumps perform in cold climates?";

/** Polls at the maximum rate, and starts that return once they are accepted. */
const QUICK = { RESEARCH_SYNC_WINDOW_MS: "0", RESEARCH_POLL_INTERVAL_MS: "100", RESEARCH_MAX_RPS: "100" };

/** Eight minutes of research in half a second. */
const SPEED = 1_000;
/** Token counts arrive with the report; otherwise a poll between the two would delay them by 15 seconds. */
const USAGE_AT_ONCE = { usage_after_ms: 0 };
/** So slow that no run ends during a test. */
export const SLOW = { speed: 1 };

const scenarioOf = (interactions: Interactions): ScenarioInput => ({
  name: "research",
  interactions: { speed: SPEED, ...USAGE_AT_ONCE, ...interactions },
});

export async function openResearch(context: Ending, interactions: Interactions = {}): Promise<ResearchScene> {
  const scene = await openScene(context, scenarioOf(interactions));
  copyTemplate(scene.configDir);
  const env = { ...scene.env, ...QUICK };
  return {
    ...scene,
    env,
    server: (options = {}) => scene.server({ ...options, env: { ...QUICK, ...options.env } }),
    command: (args, options) => scene.command(args, { ...options, env: { ...QUICK, ...options?.env } }),
    startCommand: (args, options) => scene.startCommand(args, { ...options, env: { ...QUICK, ...options?.env } }),
    posts: () =>
      scene.gemini.ledger.entries().filter(({ method, path }) => method === "POST" && path.endsWith("/interactions"))
        .length,
    accepted: () => scene.gemini.ledger.acceptedStarts().length,
    play: (next) => scene.gemini.setScenario(scenarioOf(next)),
    sql: <Row>(statement: string, ...values: SQLInputValue[]) => {
      const database = {
        file: join(scene.configDir, "deep_research.db"),
        url: scene.env["GEMINI_SEARCH_DATABASE_URL"],
      };
      return sqlOn<Row>(database, statement, values);
    },
  };
}

/** Starts a background run. */
export async function startRun(server: RunningServer, query = QUERY, more: object = {}): Promise<string> {
  const { structured } = await server.call("start_deep_research", { query, ...more });
  expect(structured).toMatchObject({ success: true, status: "running_async" });
  return structured["task_id"];
}

export const statusOf = async (server: RunningServer, task_id: string): Promise<ToolResult["structured"]> =>
  (await server.call("check_research_status", { task_id })).structured;

/** Waits until the run has this status and returns the status answer. */
export const untilStatus = (
  server: RunningServer,
  task_id: string,
  status: string,
  timeout = 60_000,
): Promise<ToolResult["structured"]> =>
  waitFor(
    async () => {
      const now = await statusOf(server, task_id);
      expect(now["status"]).toBe(status);
      return now;
    },
    { timeout, interval: 25 },
  );
