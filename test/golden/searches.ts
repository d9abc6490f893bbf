/** Searches and verified searches: answered, corrected, interrupted, refused, and without a key. */

import { glance, portrait, savedFiles } from "./portrait.ts";
import type { Scenes } from "./world.ts";
import { QUESTION, type SceneOptions, type World } from "./world.ts";

type Tasks = NonNullable<SceneOptions["tasks"]>;
type Steps = NonNullable<Tasks["search"]>;

const always = (...steps: Steps): Tasks => ({
  search: steps,
  deep_search: steps,
  verify: steps,
  research_report: steps,
});

/** A search whose every request has this step. */
const searched = (...steps: Steps) => ({
  tasks: always(...steps),
  play: async (world: World) => {
    await world.call("search", { query: QUESTION });
    await world.command("search", QUESTION);
    await world.terminal("search", QUESTION);
  },
});

const verified = (verify: Steps) => ({
  tasks: { verify },
  play: async (world: World) => {
    await world.call("deep_search", { query: QUESTION, max_iterations: 3 });
    await glance(world, world.newest());
    await world.call("get_research_results", { task_id: world.newest() });
  },
});

/** A task that waits in its second round. */
async function interrupted(world: World): Promise<string> {
  await world.raw("2025", "tools/call", { name: "deep_search", arguments: { query: QUESTION }, task: {} });
  await world.reached("verify");
  return world.newest();
}

export const SEARCHES: Scenes = {
  "search-done": {
    play: async (world) => {
      await world.callBoth("search", { query: QUESTION });
      await world.command("search", QUESTION);
      await world.command("search", QUESTION, "--json");
      await world.terminal("search", QUESTION);
      await world.call("search", { query: QUESTION, language: "de", length: "short", prefer_domains: ["example.org"] });
      await portrait(world, world.newest());
      await savedFiles(world, world.newest());
    },
  },
  "search-corrected": { ...searched({ answer: "prose" }) },
  "search-failed": {
    tasks: { ...always({ answer: "prose" }), correct_json: [{ answer: "prose" }] },
    play: async (world) => {
      await world.callBoth("search", { query: QUESTION });
      await world.command("search", QUESTION);
      await world.terminal("search", QUESTION);
      await portrait(world, world.newest());
    },
  },
  "search-cut": searched({ answer: "truncated" }),
  "search-refused": searched({ answer: "refusal" }),
  "search-blocked": searched({ block: "PROHIBITED_CONTENT" }),
  "search-key-rejected": searched({ fault: "key-invalid" }),
  "search-without-sources": searched({ grounding: "none" }),
  "search-invalid-input": {
    play: async (world) => {
      await world.callBoth("search", { query: " " });
      await world.callBoth("search", { query: QUESTION, since: "yesterday" });
      await world.command("search", QUESTION, "--since", "yesterday");
      await world.command("search");
    },
  },
  "search-as-task": {
    // The first call is answered directly; with 0 it would be a task at once.
    env: { RESEARCH_SYNC_WINDOW_MS: "20000" },
    play: async (world) => {
      const call = { name: "search", arguments: { query: QUESTION } };
      await world.raw("2025", "tools/call", { ...call, task: {} });
      await world.raw("2025", "tasks/result", { taskId: world.newest() });
      await world.raw("2025", "tasks/list");
      await world.raw("2025", "tasks/get", { taskId: world.newest() });
      await world.raw("2026", "tools/call", call);
      await world.raw("2026", "tasks/get", { taskId: world.newest() });
    },
  },
  "deep-search-verified": {
    tasks: {
      verify: [
        { round: 2, answer: "unverified" },
        { round: 3, answer: "verified" },
      ],
    },
    play: async (world) => {
      await world.call("deep_search", { query: QUESTION });
      await portrait(world, world.newest());
      await world.command("deep-search", QUESTION);
      await world.terminal("deep-search", QUESTION);
    },
  },
  "deep-search-never-verified": verified([{ answer: "unverified" }]),
  "deep-search-round-failed": verified([{ fault: "key-invalid" }]),
  "deep-search-running": {
    tasks: { verify: [{ fault: "hang" }] },
    play: async (world) => {
      const run = await interrupted(world);
      await portrait(world, run);
      await world.call("cancel_research", { task_id: run }, "2026");
      await world.ended(run);
      await portrait(world, run);
    },
  },
  "deep-search-resumed": {
    tasks: { verify: [{ fault: "hang" }] },
    play: async (world) => {
      const run = await interrupted(world);
      await world.restart();
      await glance(world, run);
      world.setTasks({ verify: [{ answer: "verified" }] });
      await world.call("resume_research", { task_id: run });
      await portrait(world, run);
    },
  },
  "deep-research-legacy": {
    play: async (world) => {
      await world.callBoth("deep_research", { topic: QUESTION });
      await world.command("deep-research", QUESTION);
      await glance(world, world.newest());
    },
  },
};
