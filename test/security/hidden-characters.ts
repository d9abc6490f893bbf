/** Plants hidden text in everything that Google or a caller sends, and searches all output for it (T17). */

import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { openResearch, type ResearchScene, startRun, untilStatus } from "../kit/server/research.ts";
import type { RunningServer } from "../kit/server/server.ts";
import { openTasks, type Tasks } from "../kit/server/tasks.ts";
import { ACTS } from "./hidden-texts.ts";
import { plantIn } from "./planting-proxy.ts";
import { openVerdict, type Stage, stringsIn, type Verdict } from "./trial.ts";

interface Round {
  /** Counted from 0. */
  number: number;
  scene: ResearchScene;
  server: RunningServer;
  tasks: Tasks;
  env: Record<string, string>;
  hidden: string;
  seen: (where: string, value: unknown) => void;
}

/** The number that fits into the first line of a thought or a title. */
const AT_A_TIME = 9;
/** Eight minutes in a tenth of a second. */
const SPEED = 5_000;
const PROSE = { answer: "raw" as const, text: "No JSON at all, only prose." };

export async function tryHiddenCharacters(stage: Stage, texts: readonly string[]): Promise<Verdict> {
  const verdict = openVerdict();
  const scene = await openResearch(stage, {});
  let hidden = "";
  const upstream = await plantIn(stage, scene.gemini.url, (text) => `${hidden} ${text} ${hidden}`);
  const env = { GOOGLE_GEMINI_BASE_URL: upstream, JSON_MAX_RETRIES: "1", DEBUG: "true" };
  const server = await scene.server({ env });
  const tasks = openTasks(server);
  const seen = (where: string, value: unknown): void => {
    const found = stringsIn(value).find((text) => ACTS.test(text));
    verdict.check(`${where}: ${JSON.stringify(found)} with ${JSON.stringify(hidden)}`, found === undefined);
  };
  for (let number = 0; number * AT_A_TIME < texts.length; number += 1) {
    hidden = texts.slice(number * AT_A_TIME, (number + 1) * AT_A_TIME).join(" ");
    const round = { number, scene, server, tasks, env, hidden, seen };
    await trySearches(round);
    await tryResearch(round);
    await tryReading(round);
  }
  hidden = texts.slice(0, AT_A_TIME).join(" ");
  await tryCommands({ number: 0, scene, server, tasks, env, hidden, seen });
  seen("stderr", server.stderr());
  seen(
    "notifications",
    scene
      .sql("select payload_json from notification_outbox")
      .map(({ payload_json }) => JSON.parse(String(payload_json))),
  );
  return { ...verdict, tried: verdict.tried * AT_A_TIME };
}

/** Answers, errors and progress of the search tools. */
async function trySearches({ scene, server, hidden, seen }: Round): Promise<void> {
  const onProgress = (message: string): void => seen("progress", message);
  scene.gemini.setScenario("good");
  seen("search", await server.call("search", { query: `What is ${hidden}?` }, { onProgress }));
  seen("deep_search", await server.call("deep_search", { query: `Why ${hidden}?`, max_iterations: 2 }, { onProgress }));
  scene.gemini.setScenario({ name: "prose", tasks: { search: [PROSE], correct_json: [PROSE] } });
  seen("search that fails", await server.call("search", { query: `How ${hidden}?` }, { onProgress }));
  scene.gemini.setScenario({ name: "refused", tasks: { search: [{ fault: "http-400" }] } });
  seen("search that is refused", await server.call("search", { query: `When ${hidden}?` }));
  seen("unknown parameter", await server.call("search", { query: "A question", [`key ${hidden}`]: hidden }));
}

/** A run from its start to the saved file, one that fails and one that is cancelled. */
async function tryResearch(round: Round): Promise<void> {
  const { number, scene, server, hidden, seen } = round;
  scene.play({ speed: SPEED });
  // Numbered: queries that differ only in invisible characters join.
  const taskId = await startRun(server, `What about ${hidden} in round ${number}?`);
  await untilStatus(server, taskId, "completed");
  seen("status", await server.call("check_research_status", { task_id: taskId }));
  seen("results", await server.call("get_research_results", { task_id: taskId }));
  const output_dir = join(scene.configDir, "reports");
  const saved = await server.call("save_research_to_markdown", {
    task_id: taskId,
    output_dir,
    filename_prefix: hidden.replaceAll("\0", ""),
  });
  seen("saved", saved);
  const file = String(saved.structured["file_path"]);
  seen("file", [basename(file), readFileSync(file, "utf8")]);
  const ends = ["failed", "incomplete", `completed${hidden}`];
  const status = ends[number % ends.length] ?? "failed";
  scene.play({ speed: SPEED, status, errors: [{ code: `code ${hidden}`, message: `message ${hidden}` }] });
  const { structured } = await server.call("start_deep_research", { query: `${status}: ${hidden}`, force_new: true });
  const task_id = String(structured["task_id"]);
  const end = status.startsWith("completed") ? "running_async" : "failed";
  seen(`status of ${status}`, await untilStatus(server, task_id, end));
  seen(`results of ${status}`, await server.call("get_research_results", { task_id }));
  seen(`cancel of ${status}`, await server.call("cancel_research", { task_id }));
}

/** Other ways to read the same runs. */
async function tryReading({ server, tasks, hidden, seen }: Round): Promise<void> {
  const { client } = server;
  seen("list", await server.call("list_research", { limit: 50 }));
  const { resources } = await client.listResources();
  seen("resources", resources);
  for (const { uri } of resources.slice(0, 12)) seen("resource", await client.readResource({ uri }));
  const { result } = await tasks.raw("tasks/list", {});
  seen("tasks", result);
  const listed: { taskId: string }[] = result?.["tasks"] ?? [];
  for (const { taskId } of listed.slice(0, 6)) {
    const task = await tasks.raw("tasks/get", { taskId });
    seen("task", task);
    if (task.result?.["status"] !== "working") seen("task result", await tasks.raw("tasks/result", { taskId }));
  }
  const { prompts } = await client.listPrompts();
  for (const { name, arguments: given = [] } of prompts) {
    const filled = Object.fromEntries(given.map((argument) => [argument.name, `words ${hidden}`]));
    seen("prompt", await client.getPrompt({ name, arguments: filled }).catch((error: Error) => error.message));
  }
}

/** Output of commands, as text and as JSON. */
async function tryCommands({ scene, env, hidden, seen }: Round): Promise<void> {
  scene.gemini.setScenario("good");
  const question = `What is ${hidden.replaceAll("\0", "")}?`;
  for (const args of [["search", question], ["list"], ["show", "x\u001B[31m"]]) {
    for (const flags of [[], ["--json"]]) {
      const { stdout, stderr } = await scene.command([...args, ...flags], { env });
      seen(`command ${args[0]}`, [stdout, stderr]);
    }
  }
}
