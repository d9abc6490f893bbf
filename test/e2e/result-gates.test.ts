/** Results that are none, or not quite: through the built server at every depth, none is plainly completed. */

import { expect, test } from "vitest";
import type { ScenarioInput, StepInput } from "../../simulator/scenario.ts";
import { type Interactions, openResearch } from "../kit/server/research.ts";
import type { RunningServer, ToolResult } from "../kit/server/server.ts";

const QUERY = "How does the output of a heat pump change with the temperature, and what is the reason for it?";
const ENGLISH =
  "Heat pumps keep most of their output down to about minus ten degrees, and the loss below that depends on the refrigerant and on the size of the compressor. The field trials that were run in the north show that the yearly figures are lower than those of the laboratory, and that the flow temperature of the radiators matters more than the climate does. See https://example.org/trials for the data.";
const GERMAN =
  "Der Wirkungsgrad der Wärmepumpe sinkt mit der Temperatur, und das ist nicht die Folge der Technik, sondern der Physik. Die Erhebung zeigt, dass die Geräte auch im Winter den größten Teil der Leistung liefern, und für die Betreiber ist der Unterschied zu den Werten auf dem Prüfstand klein. Das gilt für die meisten Häuser, die mit einer Fußbodenheizung geheizt werden. Siehe https://example.org/versuche.";

interface Gated {
  report: string;
  /** How the model's answer differs besides its text. */
  step?: Partial<StepInput>;
  /** How the agent's run does. */
  research?: Interactions;
  /** The note of a completed result; undefined: the call fails. */
  note?: RegExp;
  /** Of the agent, if it differs. */
  agentNote?: RegExp | undefined;
}

const CASES: Record<string, Gated> = {
  "a placeholder": { report: "[Your report here]" },
  // A search is corrected once: what it then returns is the text that was paid for.
  "an echo": { report: QUERY, note: /^The text only repeats the question\. Ask again\.$/, agentNote: undefined },
  "a text twice": { report: `${ENGLISH}\n\n${ENGLISH}`, note: /contains its text twice/ },
  "an answer without any source": {
    report: ENGLISH.replace(/See http.*$/, ""),
    step: { grounding: "none" },
    research: { annotations: false, steps: "output" },
    note: /No web page was found or opened/,
  },
  "an answer in another language": { report: GERMAN, note: /The answer is in German, not in English/ },
};

const answerOf = (report: string): string => {
  const metadata = { sources_visited: [], search_queries_used: [] };
  return `\`\`\`json\n${JSON.stringify({ success: true, report, verified: true, metadata })}\n\`\`\``;
};

const scenarioOf = ({ report, step }: Gated): ScenarioInput => {
  const steps: StepInput[] = [{ answer: "raw", text: answerOf(report), ...step }];
  return { name: "gated", tasks: { search: steps, deep_search: steps, verify: steps, correct_json: steps } };
};

const noteOf = ({ structured }: ToolResult): string =>
  structured["note"] ?? structured["results"]?.note ?? structured["error"]?.message ?? "";

const taskIdOf = ({ structured }: ToolResult): string =>
  structured["task_id"] ?? structured["metadata"]?.task_id ?? structured["error"]?.task_id;

/** What a caller learns from the answer, and what every later read of the run shows. */
async function endingOf(server: RunningServer, answer: ToolResult) {
  const note = noteOf(answer);
  const { structured } = await server.call("check_research_status", { task_id: taskIdOf(answer) });
  const { status, current_action: action } = structured;
  return { isError: answer.isError, note, isInText: answer.text.includes(note), status, action };
}

/** A text that is none fails; any other is completed with a warning. */
const expected = (note: RegExp | undefined) =>
  note === undefined
    ? { isError: true, isInText: true, status: "failed" }
    : {
        isError: false,
        note: expect.stringMatching(note),
        isInText: true,
        status: "completed",
        action: expect.stringMatching(/^Completed with a warning: /),
      };

test("a placeholder, an echo, a text twice, without sources, in another language or empty is never plainly completed, at every depth (W5)", async (context) => {
  const scene = await openResearch(context);
  // The start waits for the end: its own answer must say what is wrong.
  const server = await scene.server({ env: { RESEARCH_SYNC_WINDOW_MS: "20000" } });
  for (const [name, gated] of Object.entries(CASES)) {
    scene.gemini.setScenario(scenarioOf(gated));
    const searched = await server.call("search", { query: QUERY });
    expect(await endingOf(server, searched), `search: ${name}`).toMatchObject(expected(gated.note));
    const verified = await server.call("deep_search", { query: QUERY, max_iterations: 2 });
    expect(await endingOf(server, verified), `deep_search: ${name}`).toMatchObject(expected(gated.note));
    scene.play({ duration_ms: 0, report: gated.report, english: true, ...gated.research });
    const started = await server.call("start_deep_research", { query: QUERY, force_new: true });
    expect(await endingOf(server, started), `start_deep_research: ${name}`).toMatchObject(
      expected("agentNote" in gated ? gated.agentNote : gated.note),
    );
    // Paid text is never dropped.
    const read = await server.call("get_research_results", { task_id: taskIdOf(started) });
    expect(read.structured["report"]).toContain(gated.report.slice(0, 40));
  }
  scene.gemini.setScenario("thoughts-only");
  const answers = [await server.call("search", { query: QUERY }), await server.call("deep_search", { query: QUERY })];
  scene.play({ duration_ms: 0, text: "none" });
  answers.push(await server.call("start_deep_research", { query: QUERY, force_new: true }));
  for (const answer of answers) expect(await endingOf(server, answer)).toMatchObject(expected(undefined));
  const { runs } = (await server.call("list_research", { limit: 3 })).structured;
  // Tokens of an empty answer are counted.
  expect(runs).toEqual(
    Array.from({ length: 3 }, () => expect.objectContaining({ status: "failed", cost_usd: expect.any(Number) })),
  );
});
