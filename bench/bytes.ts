/** Bytes sent to the model per search, as received by the simulator: a default Gemini CLI, ours, and the API. */

import { delimiter, dirname, join } from "node:path";
import { DEFAULT_API_MODEL } from "../src/costs/prices.ts";
import { startSimulator, type Simulator } from "../simulator/server.ts";
import { BIN, isolatedEnvironment, ROOT, TEST_KEY } from "../test/kit/server/server.ts";
import { runDefaultCli } from "./gemini-cli.ts";
import { deepSearchPrompt, QUERY, searchPrompt } from "./questions.ts";
import type { Table } from "./report.ts";
import { openStdioClient, timeCall } from "./stdio-client.ts";
import { withWorkspace } from "./workspace.ts";

const TARGET = 0.12;

/** The first round of a deep search is also its last. */
const SCENARIO = { name: "one-round", tasks: { deep_search: [{ answer: "verified" as const }] } };

const TASKS = [
  { tool: "search", title: "`search`", prompt: searchPrompt, input: { query: QUERY } },
  {
    tool: "deep_search",
    title: "`deep_search`, one round",
    prompt: deepSearchPrompt,
    input: { query: QUERY, max_iterations: 2 },
  },
] as const;
type Task = (typeof TASKS)[number];

interface Sent {
  requests: number;
  bytes: number;
}

interface Comparison {
  task: Task;
  byHand: Sent;
  cli: Sent;
  api: Sent;
}

export const bytes = (): Promise<Table> => withWorkspace(compareAll);

async function compareAll(directory: string): Promise<Table> {
  const simulator = await startSimulator({ scenario: SCENARIO });
  try {
    const comparisons: Comparison[] = [];
    for (const task of TASKS) {
      comparisons.push({
        task,
        byHand: await sentDuring(simulator, () =>
          runDefaultCli({ directory, prompt: task.prompt(), simulatorUrl: simulator.url }),
        ),
        cli: await sentDuring(simulator, () => askServer({ directory, simulator, task, backend: "cli" })),
        api: await sentDuring(simulator, () => askServer({ directory, simulator, task, backend: "api" })),
      });
    }
    return tableOf(comparisons);
  } finally {
    await simulator.close();
  }
}

async function sentDuring({ ledger }: Simulator, work: () => Promise<unknown>): Promise<Sent> {
  ledger.clear();
  await work();
  // A search that was not made would appear cheap.
  if (!ledger.entries().some(({ tools }) => tools.includes("googleSearch")))
    throw new Error("No request searched the web.");
  return { requests: ledger.count(), bytes: ledger.totalBytes() };
}

interface Asking {
  directory: string;
  simulator: Simulator;
  task: Task;
  backend: "cli" | "api";
}

async function askServer({ directory, simulator, task, backend }: Asking): Promise<void> {
  const client = openStdioClient({
    args: [BIN],
    env: {
      ...isolatedEnvironment(directory),
      PATH: [join(ROOT, "node_modules/.bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
      GEMINI_API_KEY: TEST_KEY,
      GOOGLE_GEMINI_BASE_URL: simulator.url,
      SEARCH_BACKEND: backend,
    },
  });
  try {
    await timeCall(client, task.tool, task.input);
  } finally {
    await client.close();
  }
}

function tableOf(comparisons: readonly Comparison[]): Table {
  const figure = ({ bytes: sent, requests }: Sent): string => `${sent.toLocaleString("en")} in ${requests}`;
  const passed = comparisons.every(({ byHand, cli }) => cli.bytes / byHand.bytes <= TARGET);
  return {
    title: "Bytes to the model per search",
    columns: [
      "task",
      "default Gemini CLI",
      "ours, CLI backend",
      "ours, API backend",
      "our CLI ÷ default CLI",
      "our API ÷ default CLI",
    ],
    rows: comparisons.map(({ task, byHand, cli, api }) => [
      task.title,
      figure(byHand),
      figure(cli),
      figure(api),
      `**${(cli.bytes / byHand.bytes).toFixed(3)}**`,
      (api.bytes / byHand.bytes).toFixed(3),
    ]),
    notes: [
      `Bodies and number of all requests, as counted by the simulator's ledger. The default CLI received the same prompt, with only its sign-in configured. No model was set: the CLI chooses its own, the API backend uses ${DEFAULT_API_MODEL}. Target for our CLI ≤ ${TARGET}: ${passed ? "met" : "missed"}.`,
    ],
    figures: comparisons.map(({ task, byHand, cli }) => ({
      what: `bytes to the model ÷ default Gemini CLI, ${task.title}`,
      value: cli.bytes / byHand.bytes,
      limit: TARGET,
    })),
    passed,
  };
}
