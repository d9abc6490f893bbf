import { expect, test } from "vitest";
import { PRESET_NAMES, presetScenario, resolveScenario } from "./presets.ts";
import { playScenario, scenarioSchema, type Play } from "./scenario.ts";

const answers = (play: Play, rounds: (number | undefined)[]): string[] =>
  rounds.map((round) => play.open("verify", round).step.answer);

function playing(tasks: object): Play {
  return playScenario(scenarioSchema.parse({ name: "test", tasks }));
}

test("the n-th request meets the n-th step, and the last step repeats", () => {
  const play = playing({ verify: [{ answer: "prose" }, { answer: "refusal" }] });
  expect(answers(play, [2, 3, 4])).toEqual(["prose", "refusal", "refusal"]);
});

test("steps of a round are counted separately, so that parallel searches do not affect each other", () => {
  const play = playing({
    verify: [
      { round: 2, answer: "unverified" },
      { round: 3, answer: "verified" },
    ],
  });
  expect(answers(play, [2, 2, 3, 2, 3, 4])).toEqual([
    "unverified",
    "unverified",
    "verified",
    "unverified",
    "verified",
    "good",
  ]);
});

test("a later request of an exchange meets the step of the first", () => {
  const play = playing({ search: [{ answer: "prose" }, { answer: "refusal" }] });
  const first = play.open("search", undefined);
  play.open("search", undefined);
  expect(play.resume(first.id).step.answer).toBe("prose");
});

test("every preset is a scenario that survives JSON", () => {
  for (const name of PRESET_NAMES) {
    const preset = presetScenario(name);
    expect(resolveScenario(JSON.parse(JSON.stringify(preset)))).toEqual(preset);
  }
});

test("a text without the answer `raw`, and `raw` without a text, are errors", () => {
  const withStep = (step: object): boolean =>
    scenarioSchema.safeParse({ name: "x", tasks: { search: [step] } }).success;
  expect(withStep({ answer: "raw", text: "?" })).toBe(true);
  expect(withStep({ answer: "raw" })).toBe(false);
  expect(withStep({ text: "?" })).toBe(false);
});
