import { expect, test } from "vitest";
import { PRESET_NAMES, presetScenario, resolveScenario } from "./presets.ts";
import { createScenarioPlayer, scenarioSchema, type ScenarioPlayer } from "./scenario.ts";

const answers = (player: ScenarioPlayer, rounds: (number | undefined)[]): string[] =>
  rounds.map((round) => player.open("verify", round).step.answer);

function playing(tasks: object): ScenarioPlayer {
  return createScenarioPlayer(scenarioSchema.parse({ name: "test", tasks }));
}

test("the n-th request gets the n-th step, and the last step repeats", () => {
  const player = playing({ verify: [{ answer: "prose" }, { answer: "refusal" }] });
  expect(answers(player, [2, 3, 4])).toEqual(["prose", "refusal", "refusal"]);
});

test("steps of a round are counted separately, so that parallel searches do not affect each other", () => {
  const player = playing({
    verify: [
      { round: 2, answer: "unverified" },
      { round: 3, answer: "verified" },
    ],
  });
  expect(answers(player, [2, 2, 3, 2, 3, 4])).toEqual([
    "unverified",
    "unverified",
    "verified",
    "unverified",
    "verified",
    "good",
  ]);
});

test("a later request of an exchange gets the step of the first", () => {
  const player = playing({ search: [{ answer: "prose" }, { answer: "refusal" }] });
  const first = player.open("search", undefined);
  player.open("search", undefined);
  expect(player.resume(first.id).step.answer).toBe("prose");
});

test("every preset is a scenario that can be written as JSON", () => {
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
