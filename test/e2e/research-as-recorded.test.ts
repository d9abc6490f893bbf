/** The one completely recorded stream, imitated by a preset, through the built server. */

import { expect, test } from "vitest";
import { z } from "zod";
import { RESEARCH_PRESETS } from "../../simulator/interactions/presets.ts";
import { openResearch, QUERY, type ResearchScene, startRun, untilStatus } from "../kit/server/research.ts";
import { waitFor } from "../kit/wait-for.ts";

const recorded = RESEARCH_PRESETS.find(({ name }) => name === "research-as-recorded")?.interactions;

interface Part {
  type: string;
  text?: string;
  data?: string;
  annotations?: unknown;
}

interface RecordedEvent {
  event_type: string;
  event_id?: string;
  step?: { type: string };
  delta?: Part & { content?: Part };
  interaction?: object;
}

async function eventsOf(address: string): Promise<RecordedEvent[]> {
  const response = await fetch(address, { headers: { "x-goog-api-key": "k" } });
  const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: {"));
  return lines.map((line) => z.custom<RecordedEvent>().parse(JSON.parse(line.slice(6))));
}

const bytesOf = (deltas: readonly Part[]): number =>
  deltas.reduce((sum, { text = "" }) => sum + Buffer.byteLength(text), 0);

/** All texts of the interaction, as Google returns them. */
async function sentReport({ gemini, env }: ResearchScene): Promise<string> {
  const [start] = gemini.ledger.acceptedStarts();
  const headers = { "x-goog-api-key": env["GEMINI_API_KEY"] ?? "" };
  const response = await fetch(`${gemini.url}/v1beta/interactions/${start?.id}`, { headers });
  const { steps } = z.custom<{ steps: { type: string; content?: Part[] }[] }>().parse(await response.json());
  const outputs = steps.filter(({ type }) => type === "model_output");
  return outputs.flatMap(({ content = [] }) => content.map(({ text = "" }) => text)).join("");
}

/** Without its list of sources and its pictures. */
const bodyOf = (report: string): string =>
  report.replace(/\*\*Sources:\*\*[\s\S]*$/, "").replaceAll(/!\[.+?\]\(\S+\)/g, "");

test("the preset sends a recorded run: one thought, one output of text, picture and text (S7)", async (context) => {
  const scene = await openResearch(context, { ...recorded, foreign_key: 404 });
  const headers = { "x-goog-api-key": "k" };
  const body = JSON.stringify({
    input: "Which lakes freeze?",
    agent: "deep-research-preview-04-2026",
    background: true,
    agent_config: { type: "deep-research", thinking_summaries: "auto" },
  });
  const started = await fetch(`${scene.gemini.url}/v1beta/interactions`, { method: "POST", headers, body });
  const { id } = z.object({ id: z.string() }).parse(await started.json());
  const events = await eventsOf(`${scene.gemini.url}/v1beta/interactions/${id}?stream=true`);

  expect(events.filter(({ event_id }) => event_id !== undefined)).toEqual([]);
  expect(events.flatMap(({ step }) => (step === undefined ? [] : [step.type]))).toEqual(["thought", "model_output"]);
  const deltas = events.flatMap(({ delta }) => (delta === undefined ? [] : [delta]));
  const thoughts = deltas.filter(({ type }) => type === "thought_summary").map(({ content }) => content?.text ?? "");
  expect(thoughts).toHaveLength(38);
  expect(new Set(thoughts).size).toBe(38);
  expect(thoughts.filter((text) => /^\n\n\*\*.+\*\*/.test(text)).length).toBeGreaterThan(30);
  const at = deltas.findIndex(({ type }) => type === "image");
  const isText = ({ type }: Part): boolean => type === "text";
  const [before, after] = [deltas.slice(0, at).filter(isText), deltas.slice(at).filter(isText)];
  expect(Math.abs(bytesOf(before) - 7_000)).toBeLessThan(1_500);
  expect(Math.abs(bytesOf(after) - 19_000)).toBeLessThan(1_500);
  expect(Buffer.from(deltas[at]?.data ?? "", "base64")).toHaveLength(207_000);
  expect(JSON.stringify(events)).not.toContain("annotations");
  expect(events.slice(-2).map(({ event_type }) => event_type)).toEqual(["step.stop", "interaction.completed"]);
  expect(events.at(-1)?.interaction).not.toHaveProperty("usage");
  expect(events.at(-1)?.interaction).not.toHaveProperty("steps");
});

test("a recorded run yields its whole report, its picture, each thought once, and the linked sources (S1, S2)", async (context) => {
  // Slow enough for a client to see its thoughts.
  const scene = await openResearch(context, { ...recorded, speed: 100 });
  const server = await scene.server();
  const task_id = await startRun(server, QUERY, { visualization: "auto" });
  const watching = server.call("check_research_status", { task_id, wait_seconds: 20 });
  await untilStatus(server, task_id, "completed");
  await watching;
  const answer = await server.client.callTool({ name: "get_research_results", arguments: { task_id } });
  const { report, sources, pictures } = (await server.call("get_research_results", { task_id })).structured;
  const sent = await sentReport(scene);
  expect(Buffer.byteLength(sent)).toBeGreaterThan(25_000);
  expect(report.match(/^#.+$/gm)).toEqual(sent.match(/^#.+$/gm));
  // The marks become numbers; every other word is there.
  const words = (text: string): string[] => text.replaceAll(/\[[\d ,:cite]+\]/g, "").match(/\p{L}+/gu) ?? [];
  expect(words(bodyOf(report))).toEqual(words(bodyOf(sent)));
  expect(report).toMatch(/\n\n!\[Picture 1\]\(\S+\)\n\n+## /);
  const image = answer.content.find(({ type }) => type === "image");
  const bytes = Buffer.from(image?.type === "image" ? image.data : "", "base64").length;
  // Without a chunk of a few bytes that draws nothing.
  expect(207_000 - bytes).toBeLessThan(20);
  expect(pictures).toMatchObject([{ n: 1, mime_type: "image/png", bytes }]);
  const listed = sent.match(/^\d+\. \[.+\]\(https/gm) ?? [];
  expect(listed.length).toBeGreaterThan(5);
  expect(sources).toHaveLength(listed.length);

  const thoughts = await waitFor(
    async () => {
      const stored = scene.sql<{ data_json: string }>(
        "select data_json from research_events where task_id = ? and kind = 'thought'",
        task_id,
      );
      expect(stored).toHaveLength(38);
      return stored.map(({ data_json }) => data_json);
    },
    { timeout: 60_000, interval: 100 },
  );
  expect(new Set(thoughts).size).toBe(38);
});
