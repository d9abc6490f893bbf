/** The findings of a check on a terminal: whole sentences, each with what its page says. */

import { expect, test } from "vitest";
import type { CitationsAnswer } from "../../../operations/citations/verify-citations.ts";
import type { AnswerSpace } from "../answer-view.ts";
import { citationsView } from "./citations-view.ts";

const CLAIM = "The trial covered 512 homes in three countries between 2021 and 2025, before there was a subsidy.";
const PASSAGE =
  "The trial covered 412 homes in three countries between 2021 and 2025, and cost 3 million euros a year.";

const ANSWER = {
  success: true,
  task_id: "3f2a9c1e-0000-4000-8000-000000000000",
  message: "1 of 3 cited sentences is in conflict with a page: 1 confirmed, 0 likely, 1 open.",
  counts: { claims: 3, uncited: 0, conflict: 1, not_found: 1, confirmed: 1 },
  pages: { cited: 2, checked: 2, left: 0 },
  independent_domains: 2,
  findings: [
    { claim: 1, source: 1, verdict: "conflict", text: CLAIM, page_says: "412", passage: PASSAGE },
    { claim: 2, source: 2, verdict: "not_found", text: `${CLAIM} Twice.`, reason: "Nothing.", passage: PASSAGE },
  ],
};

const view = (findings: object[] = ANSWER.findings, more: object = {}): Promise<string> => {
  const space = { width: 80, paint: (style: string, text: string) => `${style}(${text})` };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that the view asks for
  return citationsView({ ...ANSWER, findings, ...more } as unknown as CitationsAnswer, space as unknown as AnswerSpace);
};

test("each finding has its whole sentence and the closest passage; a conflict is first, in red, with all of it (W2, W3)", async () => {
  const text = await view();
  const words = text.replaceAll(/\s+/g, " ");
  expect(text).toContain("bad(conflict, source 1: The page says “412”.)");
  expect(text.indexOf("bad(conflict")).toBeLessThan(text.indexOf("careful(not found, source 2: Nothing.)"));
  expect(words).toContain(`${CLAIM} faint(“${PASSAGE}”)`);
  expect(words).toContain(`${CLAIM} Twice. faint(“The trial covered 412 homes in three countries`);
  // In one line, because the page does not say it.
  expect(words.split(PASSAGE)).toHaveLength(2);
  for (const line of text.split("\n"))
    expect(line.replaceAll(/(?:bad|careful|faint)\(|\)$/g, "").length).toBeLessThan(81);
});

test("the source that a reader names has its passages whole, with a model's opinion and the time (W3)", async () => {
  const named = { claim: 2, source: 2, verdict: "likely", text: CLAIM, passage: PASSAGE, judged: true };
  const words = (await view([{ ...named, probability: 0.93, checked_at: "2026-11-19" }])).replaceAll(/\s+/g, " ");
  expect(words).toContain(`good(likely, source 2) ${CLAIM} faint(“${PASSAGE}”)`);
  expect(words).toContain("faint(A model finds it 93 % likely that the page says this.) faint(Checked 2026-11-19)");
});

test("a check that reached no page names no verdict and no site (W3)", async () => {
  const pages = { cited: 2, checked: 0, not_reached: 2, left: 0 };
  const words = (await view([], { pages, independent_domains: 0 })).replaceAll(/\s+/g, " ");
  expect(words).toContain("0 of 2 pages checked · 2 not reached");
  expect(words).not.toMatch(/confirmed ·|independent|--source|not found/);
});
