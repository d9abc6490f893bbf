/** Suggested follow-up questions, which are read from the report. */

import { expect, test } from "vitest";
import { openPoints } from "./open-points.ts";

const block = (name: string, text: string) => ({ name, text });

test("what a report leaves open is suggested as the next question, and nothing else of it (V1)", () => {
  const points = openPoints([
    block("H2", "Which pumps are quiet?"),
    block("P", "Is this answered here? Yes."),
    block("H2", "Limitations and open questions"),
    block("P", "Some points remain. How do they age beyond ten years? [3, 4]"),
    block("LI", "No trial below −30 °C was found. More would help."),
    block("LI", "Short."),
    block("H2", "Sources"),
    block("LI", "Is this a question of another section?"),
  ]);
  expect(points).toEqual(["How do they age beyond ten years?"]);
});

test("at most three are suggested, none twice and none too long (V1)", () => {
  const items = [
    "Who pays for the grid?",
    "Who pays for the grid?",
    `Why ${"so ".repeat(80)}long?`,
    "A question one?",
    "A question two?",
    "A question three?",
  ];
  const points = openPoints([block("H3", "Unresolved"), ...items.map((text) => block("LI", text))]);
  expect(points).toEqual(["Who pays for the grid?", "A question one?", "A question two?"]);
  expect(openPoints([block("P", "A report without such a section?")])).toEqual([]);
});

test("an item that only names its topic is asked about, after the questions; a statement is not (V1)", () => {
  const points = openPoints([
    block("H2", "Further research"),
    {
      ...block("LI", "Reliability after ten winters: one trial ended early [3]."),
      label: "Reliability after ten winters:",
    },
    block("LI", "Noise in dense cities [2, 4]"),
    block("LI", "No trial below −30 °C was found"),
    block("LI", "The trial in Norway ended early."),
    block("P", "Costs of larger radiators"),
    block("LI", "Who pays for the grid?"),
  ]);
  expect(points).toEqual([
    "Who pays for the grid?",
    "Reliability after ten winters: what is known?",
    "Noise in dense cities: what is known?",
  ]);
  // The words that are added are English.
  expect(openPoints([block("H2", "Offene Fragen"), block("LI", "Lärm in dichten Städten")])).toEqual([]);
});
