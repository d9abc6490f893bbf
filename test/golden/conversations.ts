/** Plans, follow-ups and tables: what is said about a run before and after it. */

import { glance, portrait, savedFiles } from "./portrait.ts";
import type { Scenes } from "./world.ts";
import { DONE_AFTER, HOUR, MINUTE, QUESTION, type World } from "./world.ts";

const EDIT = "Compare Norway and Japan";

/** A plan that waits for approval. */
async function planned(world: World): Promise<string> {
  const { task_id } = await world.call("start_deep_research", { query: QUESTION, plan: true });
  await world.pass(2 * MINUTE);
  return task_id;
}

async function reported(world: World): Promise<string> {
  const { task_id } = await world.call("start_deep_research", { query: QUESTION });
  await world.pass(DONE_AFTER);
  return task_id;
}

const FOLLOWUP = { question: "And in apartments?", wait: false };
const TABLE = { question: "One row per kind.", columns: ["Kind", "Factor"], wait: false };

const CELLS = JSON.stringify({
  rows: [
    { c1: { value: "Air to air", sources: [1, 2] }, c2: { value: "=2.6", sources: [99] } },
    { c1: { value: "Air | water", sources: [] }, c2: { value: "", sources: [] } },
  ],
});

export const CONVERSATIONS: Scenes = {
  "plan-started": {
    play: async (world) => {
      const { task_id } = await world.call("start_deep_research", { query: QUESTION, plan: true });
      await portrait(world, task_id);
    },
  },
  "plan-open": {
    play: async (world) => {
      const run = await planned(world);
      await portrait(world, run);
      await world.command("plan", run);
      await world.command("plan", run, "--json");
      await world.call("resume_research", { task_id: run, approve: true, plan_edit: EDIT });
      await world.call("resume_research", { task_id: run, approve: true, plan_turn: 7 }, "2026");
      await world.call("resume_research", { task_id: run });
    },
  },
  "plan-changed": {
    play: async (world) => {
      const task_id = await planned(world);
      await world.call("resume_research", { task_id, plan_edit: EDIT });
      await glance(world, task_id);
      await world.pass(2 * MINUTE);
      await portrait(world, task_id);
    },
  },
  "plan-approved": {
    play: async (world) => {
      const task_id = await planned(world);
      await world.call("resume_research", { task_id, approve: true, plan_turn: 1 });
      await world.call("resume_research", { task_id, approve: true, plan_turn: 1 }, "2026");
      await glance(world, task_id);
      await world.pass(DONE_AFTER);
      await portrait(world, task_id);
      await world.command("plan", task_id);
    },
  },
  "plan-changed-elsewhere": {
    play: async (world) => {
      const task_id = await planned(world);
      await world.post(`/api/runs/${task_id}/plan`, { text: "1. Only Norway.", turn: 1 });
      await world.pass(2 * MINUTE);
      await world.command("plan", task_id, "--edit", EDIT);
      await world.pass(2 * MINUTE);
      await world.get(`/api/runs/${task_id}/plan`);
      await world.command("approve", task_id);
      await world.post(`/api/runs/${task_id}/approve`, { turn: 3 });
      await glance(world, task_id);
    },
  },
  "plan-expired": {
    play: async (world) => {
      const task_id = await planned(world);
      await world.pass(30 * HOUR, () => world.ended(task_id));
      await portrait(world, task_id);
      await world.call("resume_research", { task_id, approve: true });
    },
  },
  "plan-cancelled": {
    play: async (world) => {
      const task_id = await planned(world);
      await world.call("cancel_research", { task_id });
      await portrait(world, task_id);
    },
  },
  "plan-change-lost": {
    play: async (world) => {
      const task_id = await planned(world);
      world.play({ create: [{ fault: "accept-then-reset" }] });
      await world.call("resume_research", { task_id, plan_edit: EDIT });
      await portrait(world, task_id);
    },
  },
  "plan-failed": {
    interactions: { status: "failed", text: "none" },
    play: async (world) => portrait(world, await planned(world)),
  },
  "followup-started": {
    play: async (world) => {
      const parent = await reported(world);
      await world.call("ask_followup", { task_id: parent, ...FOLLOWUP });
      await portrait(world, world.newest());
    },
  },
  "followup-done": {
    play: async (world) => {
      const parent = await reported(world);
      const { task_id } = await world.call("ask_followup", { task_id: parent, ...FOLLOWUP });
      await world.pass(DONE_AFTER);
      await world.call("ask_followup", { task_id: parent, ...FOLLOWUP });
      await portrait(world, task_id);
      await world.callBoth("get_research_results", { task_id: parent });
      await world.terminal("show", parent);
      await world.get(`/api/runs/${parent}/conversation`);
    },
  },
  "followup-elsewhere": {
    play: async (world) => {
      const parent = await reported(world);
      await world.command("followup", parent, "And in apartments?", "--no-wait");
      await world.terminal("followup", parent, "And in hotels?", "--no-wait");
      await world.post(`/api/runs/${parent}/followup`, { question: "And in schools?" });
      await world.call("ask_followup", { task_id: parent, question: "And in ships?", wait: false }, "2026");
      await world.pass(DONE_AFTER);
      await world.command("list");
      await world.get(`/api/runs/${parent}/conversation`);
    },
  },
  // Without its timeline, where the order of two attempts at the same time is open.
  "followup-forgotten": {
    play: async (world) => {
      const parent = await reported(world);
      world.play({ previous_forgotten: true });
      const { task_id } = await world.call("ask_followup", { task_id: parent, ...FOLLOWUP });
      await world.pass(DONE_AFTER);
      await glance(world, task_id);
      await world.callBoth("get_research_results", { task_id });
      await world.terminal("show", task_id);
      await world.get(`/api/runs/${task_id}/conversation`);
    },
  },
  "followup-failed": {
    play: async (world) => {
      const parent = await reported(world);
      world.play({ status: "failed", text: "none" });
      const { task_id } = await world.call("ask_followup", { task_id: parent, ...FOLLOWUP });
      await world.pass(DONE_AFTER);
      await portrait(world, task_id);
    },
  },
  "table-done": {
    play: async (world) => {
      const parent = await reported(world);
      const { columns } = TABLE;
      await world.callBoth("get_research_results", { task_id: parent, as: "table", columns });
      world.play({ answer: CELLS });
      const { task_id } = await world.call("ask_followup", { task_id: parent, ...TABLE });
      await world.pass(DONE_AFTER);
      await portrait(world, task_id);
      await savedFiles(world, task_id);
      await world.call("save_research_to_markdown", { task_id, format: "json" });
      await world.get(`/api/runs/${task_id}/table.json`);
      await world.callBoth("get_research_results", { task_id: parent, as: "table", columns });
    },
  },
  "table-elsewhere": {
    interactions: { answer: CELLS },
    play: async (world) => {
      const parent = await reported(world);
      await world.command("table", parent, "Kind", "Factor", "--no-wait");
      await world.pass(DONE_AFTER);
      await world.command("table", parent, "Kind", "Factor", "--no-wait");
      await world.terminal("show", parent, "--as", "table");
    },
  },
  "table-failed": {
    play: async (world) => {
      const parent = await reported(world);
      world.play({ answer: "No table." });
      const { task_id } = await world.call("ask_followup", { task_id: parent, ...TABLE });
      await world.pass(DONE_AFTER);
      await portrait(world, task_id);
    },
  },
};
