/** The gates of a result: each with a text that must pass and one that must not. */

import { expect, test } from "vitest";
import { emptyResultReason, resultWarnings } from "./result-gates.ts";

const ENGLISH =
  "The lake is deep and the water of it is cold. It was dammed in the last century by the company that owns the shore. The towns around it are small, and most of them have no harbour. This is what the survey found, and what the records of the region say about the years before it.";
const GERMAN =
  "Der See ist tief und das Wasser ist kalt. Er wurde im letzten Jahrhundert von der Firma gestaut, die das Ufer besitzt. Die Orte sind klein, und die meisten haben nicht einmal einen Hafen. Das ist das Ergebnis der Erhebung, und die Akten der Region sagen für die Jahre davor nichts anderes.";
const GERMAN_QUESTION = "Wie tief ist der See und wem gehört das Ufer, an dem die Orte liegen?";

const warnings = (report: string, about: { question?: string; language?: string; isGrounded?: boolean } = {}) =>
  resultWarnings({ report, question: about.question ?? "?", language: about.language, isGrounded: about.isGrounded });

test.each([
  ["[Your report here]", "The text is only a placeholder."],
  ["TODO", "The text is only a placeholder."],
  [GERMAN_QUESTION, "The text only repeats the question."],
  [ENGLISH, undefined],
  ["214 metres.", undefined],
  ["The whole report.", undefined],
  ['{"name":"X","price":3}', undefined],
  ['["Berlin","Paris"]', undefined],
  ["<https://example.org/a>", undefined],
  ["<desk@example.org>", undefined],
  ["<report>", "The text is only a placeholder."],
  ["<https://>", "The text is only a placeholder."],
  ["{}", "The text is only a placeholder."],
  ["{{report}}", "The text is only a placeholder."],
])("a text that stands for a report is none: %s (W5)", (report, reason) => {
  expect(emptyResultReason({ report, question: GERMAN_QUESTION })).toBe(reason);
});

test("an answer that the question quotes is marked, and only the whole question is no answer (W5)", () => {
  const report = "The lake was dammed in the year 1931.";
  const question = `Which is right: '${report}' or 'It is natural.'?`;
  expect(emptyResultReason({ report, question })).toBeUndefined();
  expect(warnings(report, { question })).toEqual([
    "The whole answer is a part of the question: check that it answers it.",
  ]);
  expect(emptyResultReason({ report: `**${question}**\n`, question })).toBe("The text only repeats the question.");
  expect(warnings(question, { question })).toEqual([]);
});

test("a report that contains its text twice is marked, also if the copy is cut (W5)", () => {
  const twice = /contains its text twice/;
  expect(warnings(`# Lake\n\n${ENGLISH} ${GERMAN}\n\n# Lake\n\n${ENGLISH} ${GERMAN}`)[0]).toMatch(twice);
  expect(warnings(`${ENGLISH} ${GERMAN}\n\n---\n\n${ENGLISH} ${GERMAN}`.slice(0, -80))[0]).toMatch(twice);
  expect(warnings(`${ENGLISH} ${GERMAN}`)).toEqual([]);
  // A list of similar items is no copy.
  expect(warnings(Array.from({ length: 40 }, (_, n) => `- Lake ${n} is ${n * 7} metres deep.`).join("\n"))).toEqual([]);
});

test("an answer without any source is marked, unless that is unknown (W5)", () => {
  expect(warnings(ENGLISH, { isGrounded: false })[0]).toMatch(/^No web page was found or opened/);
  expect(warnings(ENGLISH, { isGrounded: true })).toEqual([]);
  expect(warnings(ENGLISH)).toEqual([]);
});

test("an answer in another language than the wish or the question is marked (W5)", () => {
  const wrong = ["The answer is in English, not in German. Ask again, or write the question in German."];
  expect(warnings(ENGLISH, { language: "de-AT" })).toEqual(wrong);
  expect(warnings(ENGLISH, { language: "Deutsch" })).toEqual(wrong);
  expect(warnings(ENGLISH, { question: GERMAN_QUESTION })).toEqual([
    "The answer is in English, not in German. Ask again and name the language.",
  ]);
  expect(warnings(ENGLISH, { question: "日本で一番深い湖はどこにありますか、そして深さはどのくらいですか。" })).toEqual(
    ["The answer is in English, not in Japanese. Ask again and name the language."],
  );
});

test("a language in doubt is not marked (W5)", () => {
  expect(
    warnings(GERMAN, { language: "German", question: "How deep is the lake and who owns the shore of it?" }),
  ).toEqual([]);
  expect(warnings(GERMAN, { question: GERMAN_QUESTION })).toEqual([]);
  expect(warnings(ENGLISH, { question: `${GERMAN_QUESTION} Antworte auf Englisch.` })).toEqual([]);
  expect(warnings(ENGLISH, { question: "Bodensee Tiefe" })).toEqual([]);
  expect(warnings("214 m.", { language: "de" })).toEqual([]);
  expect(warnings(ENGLISH, { language: "Klingon" })).toEqual([]);
  const code = Array.from({ length: 20 }, (_, n) => `let a${n} = "the of and to is that for with";`).join("\n");
  expect(warnings(`\`\`\`js\n${code}\n\`\`\``, { language: "de" })).toEqual([]);
});
