/** Conversations through the front door: each paid request is a run, and every id that the user knows works. */

import { describe, expect, test } from "vitest";
import { openResearch, QUERY, type ResearchScene, SLOW, untilStatus } from "../kit/server/research.ts";
import type { RunningServer } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const paid = ({ gemini }: Pick<ResearchScene, "gemini">): string[] =>
  gemini.ledger.acceptedStarts().map(({ plan }) => (plan?.isApproved === false ? "plan" : "research"));

/** A plan that waits for approval. */
async function plannedBy(server: RunningServer, query = QUERY): Promise<string> {
  const { structured } = await server.call("start_deep_research", { query, plan: true });
  const task_id: string = structured["task_id"];
  await untilStatus(server, task_id, "awaiting_approval");
  return task_id;
}

describe("the id of a plan", () => {
  test("approved by twelve calls at once is paid once, and then stands for the research everywhere (V2, I8)", async (context) => {
    const scene = await openResearch(context);
    const server = await scene.server();
    const task_id = await plannedBy(server);
    const approvals = await Promise.all(
      Array.from({ length: 12 }, () => server.call("resume_research", { task_id, approve: true })),
    );
    expect(new Set(approvals.map(({ structured }) => structured["task_id"])).size).toBe(1);
    expect(paid(scene)).toEqual(["plan", "research"]);
    const { task_id: research } = await untilStatus(server, task_id, "completed");
    expect(research).not.toBe(task_id);
    const { structured: results } = await server.call("get_research_results", { task_id });
    expect(results).toMatchObject({ task_id: research, report: expect.stringContaining("heat pumps") });
    expect((await server.call("save_research_to_markdown", { task_id })).structured).toMatchObject({ success: true });
    const { structured: answer } = await server.call("ask_followup", { task_id, question: "And in Japan?" });
    expect(answer).toMatchObject({ parent_task_id: research });
    const { structured: listed } = await server.call("list_research", {});
    const ids: string[] = listed["runs"].map((run: { task_id: string }) => run.task_id);
    expect(new Set(ids)).toEqual(new Set([research, answer["task_id"]]));
    expect(ids).toHaveLength(2);
  });

  test("cancels the research that carries it out (V2, L1)", async (context) => {
    const scene = await openResearch(context);
    const server = await scene.server();
    const task_id = await plannedBy(server);
    scene.play(SLOW);
    const { structured: approved } = await server.call("resume_research", { task_id, approve: true });
    const { structured } = await server.call("cancel_research", { task_id });
    expect(structured).toMatchObject({ task_id: approved["task_id"], status: "cancelled" });
    const research = scene.gemini.ledger.acceptedStarts().at(-1)?.id ?? "";
    await waitFor(() => expect(scene.gemini.ledger.trafficOf(research).cancels.length).toBeGreaterThan(0));
  });
});
