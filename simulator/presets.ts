/** Named scenarios for the demo, tests and benchmarks. */

import { DEMO_COURSE } from "./demo/course.ts";
import { DEMO_REPORT, DEMO_SOURCES } from "./demo/report.ts";
import { ENDING_PRESETS } from "./models/generate-content-presets.ts";
import { RESEARCH_PRESETS } from "./interactions/presets.ts";
import { scenarioSchema, type Scenario, type ScenarioInput } from "./scenario.ts";

type Tasks = NonNullable<ScenarioInput["tasks"]>;
type Steps = NonNullable<Tasks["search"]>;

/** The same steps for all tasks that research the web. */
const research = (steps: Steps): Tasks => ({
  search: steps,
  deep_search: steps,
  verify: steps,
  research_report: steps,
});

const VERIFIED_AT_ROUND_3: Steps = [
  { round: 2, answer: "unverified" },
  { round: 3, answer: "verified" },
];

const BAD_ONCE: Steps = [{ answer: "prose" }, { answer: "good" }];

/** Eight minutes of research in eight seconds. */
const DEMO_RESEARCH = { speed: 60, english: true };

const PRESETS: readonly ScenarioInput[] = [
  { name: "good", tasks: { verify: VERIFIED_AT_ROUND_3 } },
  { name: "never-verified", tasks: { verify: [{ answer: "unverified" }] } },
  { name: "verified-at-once", tasks: { verify: [{ answer: "verified" }] } },
  // Prose, because broken JSON may be repaired without a correction call.
  { name: "bad-json", tasks: research([{ answer: "prose" }]) },
  {
    name: "bad-json-twice",
    tasks: {
      search: BAD_ONCE,
      deep_search: BAD_ONCE,
      research_report: BAD_ONCE,
      correct_json: BAD_ONCE,
    },
  },
  {
    name: "always-bad",
    tasks: { ...research([{ answer: "prose" }]), correct_json: [{ answer: "prose" }] },
  },
  { name: "truncated", tasks: research([{ answer: "truncated" }]) },
  { name: "refusal", tasks: research([{ answer: "refusal" }]) },
  {
    name: "overloaded",
    tasks: research([{ fault: "http-503" }, { fault: "http-503" }, { answer: "good" }]),
  },
  { name: "slow", latency_ms: 3000, tasks: { verify: VERIFIED_AT_ROUND_3 } },
  {
    // Slow enough to watch, with one answer that needs repair and one that needs a correction call.
    name: "demo",
    latency_ms: 900,
    tasks: {
      deep_search: [{ answer: "trailing-comma", latency_ms: 1200 }],
      verify: [
        { round: 2, answer: "prose", latency_ms: 1200 },
        { round: 3, answer: "verified", latency_ms: 1200 },
      ],
      web_search: [{ latency_ms: 400 }],
    },
    interactions: DEMO_RESEARCH,
  },
  {
    // The demo's own question: the first research is prepared, later ones are invented.
    name: "demo-report",
    latency_ms: 900,
    interactions: {
      ...DEMO_RESEARCH,
      create: [{ life: { course: DEMO_COURSE, report: DEMO_REPORT, sources: DEMO_SOURCES, parts: 1 } }, {}],
    },
  },
  ...ENDING_PRESETS.map(({ name, step }) => ({ name, tasks: research([step]) })),
  ...RESEARCH_PRESETS,
];

export const PRESET_NAMES: readonly string[] = PRESETS.map((preset) => preset.name);

export function presetScenario(name: string): Scenario {
  const preset = PRESETS.find((candidate) => candidate.name === name);
  if (preset === undefined) {
    throw new Error(`There is no scenario "${name}". There are: ${PRESET_NAMES.join(", ")}.`);
  }
  return scenarioSchema.parse(preset);
}

/** Resolves a preset by name, or validates a scenario given as data. */
export function resolveScenario(scenario: unknown): Scenario {
  return typeof scenario === "string" ? presetScenario(scenario) : scenarioSchema.parse(scenario);
}
