/** What there is without a run, and what happens without a key, on a full disk, and to many runs. */

import { connectHttp } from "../kit/server/http-server.ts";
import { glance, portrait } from "./portrait.ts";
import type { Scenes } from "./world.ts";
import { DONE_AFTER, MINUTE, QUESTION, type World } from "./world.ts";

async function reported(world: World): Promise<string> {
  const { task_id } = await world.call("start_deep_research", { query: QUESTION });
  await world.pass(DONE_AFTER);
  return task_id;
}

const LISTS = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

const COMMANDS = [
  ["search", "deep-search", "research", "estimate"],
  ["list", "show", "watch", "followup", "table", "check", "save", "open"],
  ["plan", "approve", "retry", "cancel", "edit", "delete", "costs"],
  ["init", "doctor", "serve", "worker", "status", "token", "migrate", "demo", "completion"],
].flat();

export const INSTALLATION: Scenes = {
  "announced-2025": {
    play: async (world) => {
      const { client } = await world.client("2025");
      world.add("initialize", [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()]);
      for (const method of LISTS) await world.raw("2025", method);
      await world.raw("2025", "prompts/get", { name: "fact_check", arguments: { text: "Heat pumps are loud." } });
      await world.raw("2025", "tasks/list");
    },
  },
  "announced-2026": {
    play: async (world) => {
      await world.raw("2026", "server/discover");
      for (const method of LISTS) await world.raw("2026", method);
      await world.raw("2026", "tools/call", { name: "no_such_tool", arguments: {} });
      await world.raw("2026", "resources/read", { uri: "research://runs" });
    },
  },
  "announced-core": {
    env: { GEMINI_SEARCH_TOOLS: "core" },
    play: async (world) => {
      await world.raw("2025", "tools/list");
      await world
        .call("ask_followup", { task_id: "x", question: "y" })
        .catch((error) => world.add("refused", String(error)));
    },
  },
  help: {
    play: async (world) => {
      await world.command("--help");
      await world.terminal("--help");
      for (const command of COMMANDS) await world.command(command, "--help");
      await world.command("shwo");
      await world.command("completion", "bash");
    },
  },
  "no-key": {
    isBare: true,
    play: async (world) => {
      // Before any server runs, whose process ids it would show.
      await world.command("doctor", "--json");
      await world.terminal("doctor");
      await world.callBoth("search", { query: QUESTION });
      await world.callBoth("start_deep_research", { query: QUESTION });
      await world.call("list_research");
      for (const args of [["search", QUESTION], ["research", QUESTION], ["list"], []]) {
        await world.command(...args);
        await world.terminal(...args);
      }
      await world.post("/api/ask", { depth: "search", query: QUESTION });
      await world.post("/api/research", { query: QUESTION });
      await world.get("/api/runs");
    },
  },
  "disk-full": {
    play: async (world) => {
      const run = await reported(world);
      await world.restart({ GOLDEN_FULL_DISK: world.scene.configDir });
      await world.call("search", { query: QUESTION });
      await world.call("start_deep_research", { query: `${QUESTION} Again.` });
      await world.call("check_research_status", { task_id: run });
      await world.call("save_research_to_markdown", { task_id: run });
      await world.call("list_research");
    },
  },
  "disk-full-at-the-end": {
    play: async (world) => {
      const { task_id } = await world.call("start_deep_research", { query: QUESTION });
      await world.pass(MINUTE);
      await world.restart({ GOLDEN_FULL_DISK: world.scene.configDir });
      await world.pass(DONE_AFTER, () => Promise.resolve());
      await world.call("check_research_status", { task_id });
      await world.logged("Polling runs failed");
      await world.restart();
      await world.settle();
      await glance(world, task_id);
    },
  },
  library: {
    play: async (world) => {
      const run = await reported(world);
      await world.call("search", { query: "Which heat pump is quietest?" });
      await world.command("edit", run, "--title", "Cold climates");
      await world.command("edit", run, "--star");
      await world.command("edit", run, "--archive");
      await world.command("list");
      await world.command("list", "--archived");
      await world.post(`/api/runs/${run}/organize`, { archived: false });
      await world.command("list", "field", "study");
      await world.terminal("list", "field", "study");
      await world.call("list_research", { text: "field study" });
      await world.get("/api/runs?text=field%20study");
      await world.get("/api/figures");
      await world.command("costs");
      await world.command("costs", "--json");
      await world.terminal("costs");
      await world.command("status", "--json");
      await portrait(world, run);
    },
  },
  deleted: {
    play: async (world) => {
      const run = await reported(world);
      await world.call("cancel_research", { task_id: run, delete: true });
      await world.command("delete", run);
      await world.command("delete", run, "--yes", "--json");
      await glance(world, run);
      const other = await reported(world);
      await world.post(`/api/runs/${other}/delete`, { delete_at_google: true, seen_status: "completed" });
      await world.get("/api/runs");
    },
  },
  chatgpt: {
    play: async (world) => {
      const run = await reported(world);
      const { url, token } = await world.server();
      const { client } = await connectHttp(`${url}/mcp?profile=chatgpt`, "modern", token);
      world.add("tools/list", await client.listTools());
      world.add("search", await client.callTool({ name: "search", arguments: { query: QUESTION } }));
      world.add("fetch", await client.callTool({ name: "fetch", arguments: { id: run } }));
      await client.close();
    },
  },
  watched: {
    interactions: { stream: [] },
    play: async (world) => {
      const { task_id } = await world.call("start_deep_research", { query: QUESTION });
      await world.pass(5 * MINUTE);
      await world.streamed(6);
      await glance(world, task_id);
      await world.call("view_run", { task_id });
      await world.get(`/api/runs/${task_id}/timeline`);
    },
  },
};
