/** Background research in each of its states, from the start to a late report. */

import { glance, portrait, savedFiles } from "./portrait.ts";
import type { Scenes } from "./world.ts";
import { DONE_AFTER, HOUR, MINUTE, QUESTION, type Interactions, type World } from "./world.ts";

type Fault = NonNullable<NonNullable<Interactions["create"]>[number]["fault"]>;

async function start(world: World, more: object = {}): Promise<string> {
  return (await world.call("start_deep_research", { query: QUESTION, ...more }))["task_id"];
}

/** A run that ends in this way. */
const ending = (interactions: Interactions, show = glance) => ({
  interactions,
  play: async (world: World) => {
    const run = await start(world);
    await world.pass(DONE_AFTER);
    await show(world, run);
    await world.call("get_research_results", { task_id: run });
  },
});

/** A start that Google refuses. */
const refused = (fault: Fault) => ({
  interactions: { create: [{ fault }] },
  play: async (world: World) => {
    await world.call("start_deep_research", { query: QUESTION });
    await world.command("research", QUESTION, "--no-wait", "--yes");
    await world.post("/api/research", { query: QUESTION });
    await world.terminal("list");
  },
});

const LOST: Interactions = { create: [{ fault: "accept-then-reset" }, {}] };

export const RESEARCH: Scenes = {
  "research-estimated": {
    play: async (world) => {
      await world.callBoth("estimate_research_cost", { query: QUESTION });
      await world.call("estimate_research_cost", { query: QUESTION, model: "deep-research-max-preview-04-2026" });
      await world.command("estimate", QUESTION);
      await world.command("estimate", QUESTION, "--json");
      await world.terminal("estimate", QUESTION);
      await world.post("/api/estimate", { query: QUESTION });
      await world.post("/api/estimate", { query: "heat pumps" });
    },
  },
  "research-started": { play: async (world) => portrait(world, await start(world)) },
  "research-started-elsewhere": {
    play: async (world) => {
      await world.call("start_deep_research", { query: QUESTION }, "2026");
      await world.call("start_deep_research", { query: QUESTION });
      await world.command("research", QUESTION, "--no-wait");
      await world.command("research", `${QUESTION} Again.`, "--no-wait", "--json");
      await world.terminal("research", `${QUESTION} At a terminal.`, "--no-wait");
      await world.post("/api/research", { query: `${QUESTION} On the page.` });
      await world.command("list");
    },
  },
  "research-running": {
    play: async (world) => {
      const run = await start(world);
      await world.pass(4 * MINUTE);
      await portrait(world, run);
      await world.call("save_research_to_markdown", { task_id: run });
      await world.call("ask_followup", { task_id: run, question: "And in apartments?", wait: false });
      await world.call("verify_citations", { task_id: run });
      await world.call("resume_research", { task_id: run });
    },
  },
  "research-stalled": {
    interactions: { status: "in_progress" },
    play: async (world) => {
      const run = await start(world);
      await world.pass(DONE_AFTER);
      await world.pass(15 * MINUTE);
      await portrait(world, run);
    },
  },
  "research-done": {
    play: async (world) => {
      const run = await start(world);
      await world.pass(DONE_AFTER);
      await portrait(world, run);
      await savedFiles(world, run);
      await world.call("cancel_research", { task_id: run });
      await world.call("resume_research", { task_id: run });
    },
  },
  "research-sections": {
    play: async (world) => {
      const task_id = await start(world);
      await world.pass(DONE_AFTER);
      for (const section of [undefined, "outline", "2", "sources", "all", "9"]) {
        await world.call("get_research_results", { task_id, ...(section && { section }) });
      }
      await world.call("get_research_results", { task_id, include_sources: false }, "2026");
      await world.command("show", task_id, "--section", "outline");
      await world.terminal("show", task_id, "--section", "2");
    },
  },
  "research-pictured": {
    interactions: { image: true, image_bytes: 900 },
    play: async (world) => {
      const task_id = await start(world);
      await world.pass(DONE_AFTER);
      await world.callBoth("get_research_results", { task_id });
      await world.raw("2025", "resources/read", { uri: `research://runs/${task_id}/pictures/1` });
      await world.call("view_report", { task_id, form: "picture", n: 1 });
      await world.call("save_research_to_markdown", { task_id });
      await world.get(`/api/runs/${task_id}/report`);
      await world.get(`/api/runs/${task_id}/report.html`);
    },
  },
  "research-partial": ending({ status: "incomplete" }, portrait),
  "research-over-budget": ending({ status: "budget_exceeded" }),
  "research-failed": ending({ status: "failed" }, portrait),
  "research-failed-with-reason": ending({
    status: "failed",
    text: "none",
    errors: [{ code: "internal", message: "Text of Google." }],
  }),
  "research-empty": ending({ text: "none" }),
  "research-needs-action": ending({ status: "requires_action" }),
  "research-unknown-status": ending({ status: "hibernating" }),
  "research-cancelled-by-google": ending({ status: "cancelled" }),
  "research-expired-at-google": ending({ expires_after_ms: 5 * MINUTE }),
  "research-absurd-usage": ending({ usage: { total_input_tokens: 1e15, total_output_tokens: -3 } }),
  "research-timed-out": {
    interactions: { duration_ms: 12 * HOUR },
    play: async (world) => {
      const task_id = await start(world, { max_wait_hours: 1 });
      await world.pass(2 * HOUR);
      await glance(world, task_id);
      await world.call("resume_research", { task_id });
      await world.pass(11 * HOUR);
      await glance(world, task_id);
      await world.call("get_research_results", { task_id });
    },
  },
  "research-poll-refused": {
    interactions: { get: [{ fault: "key-invalid" }] },
    play: async (world) => {
      const run = await start(world);
      await world.pass(2 * MINUTE);
      await glance(world, run);
    },
  },
  "research-start-unknown": {
    interactions: LOST,
    play: async (world) => {
      const task_id = await start(world);
      await portrait(world, task_id);
      await world.call("resume_research", { task_id });
      await world.command("retry", task_id);
      await world.call("cancel_research", { task_id }, "2026");
    },
  },
  "research-start-unknown-adopted": {
    interactions: LOST,
    play: async (world) => {
      const task_id = await start(world);
      const interaction_id = world.scene.gemini.ledger.acceptedStarts()[0]?.id ?? "";
      await world.call("resume_research", { task_id, interaction_id });
      await world.pass(DONE_AFTER);
      await portrait(world, task_id);
    },
  },
  "research-start-unknown-restarted": {
    interactions: LOST,
    play: async (world) => {
      const task_id = await start(world);
      await world.call("resume_research", { task_id, accept_possible_double_charge: true });
      await world.terminal("retry", task_id, "--accept-possible-double-charge", "--yes");
      await glance(world, task_id);
      await world.pass(DONE_AFTER);
      await portrait(world, task_id);
    },
  },
  "research-refused-key": refused("key-invalid"),
  "research-refused-credits": refused("http-402"),
  "research-refused-content": refused("content-prohibited"),
  "research-refused-billing": refused("billing-disabled"),
  "research-cancelled": {
    play: async (world) => {
      const task_id = await start(world);
      await world.pass(4 * MINUTE);
      await world.call("cancel_research", { task_id });
      await world.pass(MINUTE);
      await portrait(world, task_id);
      await world.call("cancel_research", { task_id }, "2026");
      await world.call("resume_research", { task_id });
    },
  },
  "research-cancelled-elsewhere": {
    play: async (world) => {
      const [first, second, third] = [
        await start(world),
        await start(world, { force_new: true }),
        await start(world, { force_new: true }),
      ];
      await world.pass(MINUTE);
      await world.command("cancel", first);
      await world.command("cancel", first, "--yes");
      await world.post(`/api/runs/${second}/cancel`, {});
      await world.raw("2026", "tasks/cancel", { taskId: third });
      await world.settle();
      await world.raw("2026", "tasks/get", { taskId: third });
      await world.terminal("list");
    },
  },
  "research-late-report": {
    interactions: { cancel_ignored: true },
    play: async (world) => {
      const task_id = await start(world);
      await world.pass(4 * MINUTE);
      await world.call("cancel_research", { task_id });
      await glance(world, task_id);
      await world.pass(HOUR);
      await portrait(world, task_id);
    },
  },
  "research-needs-consent": {
    env: { RESEARCH_CONFIRM_ABOVE_USD: "1" },
    play: async (world) => {
      await world.call("start_deep_research", { query: QUESTION });
      await world.call("start_deep_research", { query: QUESTION }, "2026");
      await world.command("research", QUESTION, "--no-wait");
      const answer = await world.post("/api/research", { query: QUESTION });
      await world.post("/api/research", { query: QUESTION, agreed: answer["error"].details.question.subject });
      await world.command("research", `${QUESTION} Yes.`, "--no-wait", "--yes");
    },
  },
  "research-invalid-input": {
    play: async (world) => {
      await world.callBoth("start_deep_research", { query: "" });
      await world.call("start_deep_research", { query: QUESTION, model: "no-such-agent" });
      await world.call("start_deep_research", { query: QUESTION, files: ["/etc/passwd"] });
      await world.call("start_deep_research", { query: QUESTION, more: true });
      await world.callBoth("check_research_status", { task_id: "00000000-0000-4000-8000-000000000000" });
      await world.command("show", "000000");
      await world.terminal("show", "000000");
      await world.command("research");
      await world.get("/api/runs/00000000-0000-4000-8000-000000000000");
    },
  },
  "research-with-material": {
    play: async (world) => {
      const run = await start(world, {
        urls: ["https://example.org/paper"],
        language: "de",
        length: "short",
        since: "2025",
      });
      await world.pass(DONE_AFTER);
      await glance(world, run);
      await world.call("get_research_results", { task_id: run });
    },
  },
};
