/** What Google refuses before it does any work: each refusal says its own cause and remedy, on every path. */

import { describe, expect, test } from "vitest";
import { errorNamed, type ErrorName } from "../../simulator/google-errors.ts";
import type { ScenarioInput } from "../../simulator/scenario.ts";
import { missingFromText } from "../kit/server/answer-leaves.ts";
import { openResearch, QUERY, type ResearchScene, startRun, statusOf, untilStatus } from "../kit/server/research.ts";
import { openScene } from "../kit/server/scene.ts";
import type { RunningServer } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

interface Refusal {
  fault: ErrorName;
  code: string;
  message: string;
  remedy: string;
}

const UNAVAILABLE = "GEMINI_UNAVAILABLE";
const CREDITS = {
  code: UNAVAILABLE,
  message: "The prepaid credits of the API key's billing account are used up.",
  remedy: "Add credits or turn on auto-reload at https://ai.studio/projects.",
};
const BLOCKED = {
  code: "EXECUTION_ERROR",
  message: "Google's content filters refuse the question.",
  remedy: "Rephrase the question; the same words are refused again.",
};

/** The same text for a search as for a paid start. */
const REFUSALS: Refusal[] = [
  { fault: "http-402", ...CREDITS },
  { fault: "prepaid-429", ...CREDITS },
  {
    fault: "key-invalid",
    code: UNAVAILABLE,
    message: "Google rejected the API key.",
    remedy: "Create a new key at https://aistudio.google.com/apikey, then run gemini-search-mcp init",
  },
  {
    fault: "two-credentials",
    code: UNAVAILABLE,
    message: "Google reports more than one credential in the request.",
    remedy: "Check that no proxy or gateway adds one",
  },
  {
    fault: "location-unsupported",
    code: UNAVAILABLE,
    message: "Google does not offer the Gemini API at this server's location.",
    remedy: "Run the server where the Gemini API is available",
  },
  {
    fault: "billing-disabled",
    code: UNAVAILABLE,
    message: "Google refuses the key's project because a precondition, such as billing, is not met.",
    remedy: "Check the billing of the project in Google AI Studio.",
  },
  {
    fault: "parameter-unknown",
    code: "EXECUTION_ERROR",
    message: "Google does not accept a parameter of this request.",
    remedy: "Update gemini-search-mcp",
  },
  {
    fault: "http-413",
    code: "EXECUTION_ERROR",
    message: "The request is too large for Google.",
    remedy: "Shorten the question, or send fewer or smaller files.",
  },
];

/** Searches meet these in another form, which is no refusal of the request, or with another setting as the remedy. */
const REFUSED_STARTS: Refusal[] = [
  ...REFUSALS,
  { fault: "content-prohibited", ...BLOCKED },
  { fault: "content-unsafe", ...BLOCKED },
  { fault: "content-recited", ...BLOCKED },
  {
    fault: "http-404",
    code: "EXECUTION_ERROR",
    message: "Google does not recognise the model deep-research-preview-04-2026.",
    remedy: "Name a current Deep Research agent, or leave the model out.",
  },
  {
    fault: "http-503-front-end",
    code: UNAVAILABLE,
    message: "Google's service is overloaded or failing (HTTP 503).",
    remedy: "Try again in a few minutes.",
  },
];

const searching = (fault: ErrorName): ScenarioInput => ({ name: fault, tasks: { search: [{ fault }] } });

async function completedRun(server: RunningServer): Promise<string> {
  const taskId = await startRun(server);
  await untilStatus(server, taskId, "completed");
  return taskId;
}

/** Counts what was sent and charged since the last call. */
function counter(scene: ResearchScene): () => { posts: number; charged: number } {
  let [posts, charged] = [scene.posts(), scene.accepted()];
  return () => {
    const since = { posts: scene.posts() - posts, charged: scene.accepted() - charged };
    [posts, charged] = [scene.posts(), scene.accepted()];
    return since;
  };
}

describe.concurrent("a refusal", () => {
  test("of a start says its cause and remedy at once and to later readers, is sent once and costs nothing (I6, I8)", async (context) => {
    const scene = await openResearch(context);
    const server = await scene.server();
    const sent = counter(scene);
    for (const { fault, code, message, remedy } of REFUSED_STARTS) {
      scene.play({ create: [{ fault }] });
      const { structured, text } = await server.call("start_deep_research", { query: `${QUERY} ${fault}` });
      const suggestion = expect.stringMatching(/^Nothing was charged\. [A-Z]/);
      expect({ fault, ...structured }).toMatchObject({ fault, status: "failed", error: { code, message, suggestion } });
      expect(structured["error"].suggestion).toContain(remedy);
      expect(missingFromText(text, structured)).toEqual([]);
      expect({ fault, ...sent() }).toEqual({ fault, posts: 1, charged: 0 });
      const { task_id } = structured;
      const status = await statusOf(server, task_id);
      expect(status["error"]).toMatchObject({ code, message, suggestion: expect.stringContaining(remedy) });
      const results = (await server.call("get_research_results", { task_id })).structured;
      expect(results["error"]).toMatchObject({
        code: "RESEARCH_FAILED",
        message: expect.stringContaining(message),
        suggestion: structured["error"].suggestion,
      });
      expect(JSON.stringify([structured, status, results])).not.toContain(errorNamed(fault).message);
    }
  });

  test.for(REFUSALS)(
    "of a search as $fault says its cause and remedy after one request (A6, C8)",
    async (refusal, context) => {
      const { fault, code, message, remedy } = refusal;
      const scene = await openScene(context, searching(fault));
      const server = await scene.server();
      const { structured } = await server.call("search", { query: QUERY });
      const error = { code, message, suggestion: expect.stringContaining(remedy) };
      expect(structured).toMatchObject({ success: false, error });
      expect(scene.gemini.ledger.count()).toBe(1);
      const { task_id } = structured;
      const results = (await server.call("get_research_results", { task_id })).structured;
      expect(results["error"]).toMatchObject({ suggestion: expect.stringContaining(remedy) });
    },
  );

  test("of a round of deep_search is not retried, and says its cause (G4)", async (context) => {
    const tasks = { deep_search: [{ fault: "prepaid-429" as const }] };
    const scene = await openScene(context, { name: "no credits", tasks });
    const { structured } = await (await scene.server()).call("deep_search", { query: QUERY });
    expect(structured).toMatchObject({ error: { message: CREDITS.message, suggestion: CREDITS.remedy } });
    expect(scene.gemini.ledger.count()).toBe(1);
  });

  test("of a plan, its change and its approval says its cause and remedy, and the plan still waits (V2)", async (context) => {
    const scene = await openResearch(context, { create: [{ fault: "http-402" }] });
    const server = await scene.server();
    const plan = { query: QUERY, plan: true };
    expect((await server.call("start_deep_research", plan)).structured).toMatchObject({
      error: { message: CREDITS.message, suggestion: expect.stringContaining(CREDITS.remedy) },
    });
    scene.play({});
    const { task_id } = (await server.call("start_deep_research", plan)).structured;
    await untilStatus(server, task_id, "awaiting_approval");
    scene.play({ create: [{ fault: "http-402" }] });
    for (const decision of [{ approve: true }, { plan_edit: "Compare Norway and Japan" }]) {
      expect((await server.call("resume_research", { task_id, ...decision })).structured).toMatchObject({
        status: "awaiting_approval",
        error: {
          message: CREDITS.message,
          suggestion: `Nothing was charged, and the plan still waits for approval. ${CREDITS.remedy}`,
        },
      });
    }
    expect(scene.accepted()).toBe(1);
  });

  test("of a follow-up or a table says its cause and remedy, and the stored report is not sent instead (V1, V5)", async (context) => {
    const scene = await openResearch(context);
    const server = await scene.server();
    const task_id = await completedRun(server);
    const sent = counter(scene);
    const asked = { task_id, question: "One row per heat pump." };
    for (const { fault, message, remedy } of REFUSED_STARTS.filter(({ fault: each }) =>
      ["http-402", "location-unsupported", "two-credentials", "content-prohibited"].includes(each),
    )) {
      scene.play({ create: [{ fault }] });
      for (const more of [{}, { columns: ["Maker", "Price"] }]) {
        const { structured } = await server.call("ask_followup", { ...asked, ...more });
        expect(structured).toMatchObject({ error: { message, suggestion: expect.stringContaining(remedy) } });
        expect({ fault, more, ...sent() }).toEqual({ fault, more, posts: 1, charged: 0 });
      }
    }
    scene.play({ create: [{ fault: "http-404" }] });
    const model = (await server.call("ask_followup", { ...asked, columns: ["Maker", "Price"] })).structured;
    expect(model["error"]).toMatchObject({
      message: "Google does not recognise the model gemini-3.1-pro-preview.",
      suggestion: expect.stringContaining("Update gemini-search-mcp"),
    });
  });
});

describe.concurrent("labels that Google refuses", () => {
  test("are left out of a second request of the same attempt, which is accepted and paid once (I8)", async (context) => {
    const scene = await openResearch(context, { labels_refused: true });
    const server = await scene.server();
    const task_id = await completedRun(server);
    expect([scene.posts(), scene.accepted()]).toEqual([2, 1]);
    expect(scene.gemini.ledger.acceptedStarts()).toMatchObject([{ query: QUERY, labels: {} }]);
    const attempts = scene.sql("select state from research_attempts where task_id = ?", task_id);
    expect(attempts).toMatchObject([{ state: "accepted" }]);
    // The follow-up continues the interaction at Google: labels are no reason to send the stored report.
    const { structured } = await server.call("ask_followup", { task_id, question: "And in apartments?" });
    expect(structured).toMatchObject({ success: true, context: "google" });
    expect([scene.posts(), scene.accepted()]).toEqual([4, 2]);
  });

  test("are left out once: a request that is refused without them has failed (I6, I8)", async (context) => {
    const scene = await openResearch(context, { create: [{ fault: "labels-refused" }] });
    const { structured } = await (await scene.server()).call("start_deep_research", { query: QUERY });
    expect(structured).toMatchObject({ status: "failed", error: { code: "EXECUTION_ERROR" } });
    expect([scene.posts(), scene.accepted()]).toEqual([2, 0]);
  });
});

describe.concurrent("a poll that Google answers with an error", () => {
  test.for<[ErrorName, RegExp]>([
    ["http-402", /^Google refuses polls because the prepaid credits are used up; add credits/],
    ["prepaid-429", /^Google refuses polls because the prepaid credits are used up; add credits/],
    ["two-credentials", /^Google reports more than one credential in each poll/],
    ["location-unsupported", /^Google does not serve this server's location/],
    ["http-503", /^Google's service is overloaded or failing; trying again$/],
  ])("as %s shows this cause, and the report is collected afterwards (P4, I6)", async ([fault, note], context) => {
    const scene = await openResearch(context, { get: [{ fault }] });
    const server = await scene.server();
    const task_id = await startRun(server);
    await waitFor(async () =>
      expect(await statusOf(server, task_id)).toMatchObject({
        status: "running_async",
        current_action: expect.stringMatching(note),
      }),
    );
    scene.play({});
    await untilStatus(server, task_id, "completed");
  });
});
