/** Every metric: its name, its unit, what it counts. No label holds a run, an owner or a question. */

interface Instrument {
  unit: string;
  description: string;
}

/** From the GenAI and MCP conventions of OpenTelemetry, with longer ones added: research takes up to hours. */
const SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 300, 900, 1_800, 3_600,
  10_800,
];
const TOKENS = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

export const HISTOGRAMS = {
  "gen_ai.client.token.usage": { unit: "{token}", description: "Tokens used by model calls.", buckets: TOKENS },
  "gen_ai.client.operation.duration": {
    unit: "s",
    description: "How long model calls took; for the Deep Research agent, whole runs.",
    buckets: SECONDS,
  },
  "mcp.server.operation.duration": { unit: "s", description: "How long MCP tool calls took.", buckets: SECONDS },
  "http.server.request.duration": {
    unit: "s",
    description: "How long HTTP requests took until their answer began.",
    buckets: SECONDS,
  },
} satisfies Record<string, Instrument & { buckets: number[] }>;
export type HistogramName = keyof typeof HISTOGRAMS;

export const COUNTERS = {
  "gemini_search.research.starts": { unit: "{start}", description: "Paid starts of Deep Research, by outcome." },
  "gemini_search.cost": { unit: "USD", description: "What finished model calls and runs cost by the price list." },
  "gemini_search.upstream.requests": { unit: "{request}", description: "HTTP requests to Google, by outcome." },
  "gemini_search.polls": { unit: "{poll}", description: "Polls of runs by this process, by outcome." },
  /** May go down again. */
  "gemini_search.streams": { unit: "{stream}", description: "Streams that are open, to clients and from Google." },
} satisfies Record<string, Instrument>;
export type CounterName = keyof typeof COUNTERS;

export const UP_AND_DOWN: readonly CounterName[] = ["gemini_search.streams"];

export const GAUGES = {
  "gemini_search.runs": { unit: "{run}", description: "Stored runs, by state and kind." },
  "gemini_search.queue.due": { unit: "{run}", description: "Runs in progress that are due to be polled." },
  "gemini_search.queue.late": { unit: "{run}", description: "Those of them that are due for more than a minute." },
  "gemini_search.queue.oldest_due_age": { unit: "s", description: "How long the first of them has been due." },
  "gemini_search.workers": { unit: "{process}", description: "Processes that poll runs, by whether they respond." },
  "process.memory.usage": { unit: "By", description: "Resident memory of the process." },
  "nodejs.eventloop.delay.p99": { unit: "s", description: "Event loop delay since the last collection, p99." },
  "nodejs.eventloop.delay.max": { unit: "s", description: "Event loop delay since the last collection, longest." },
} satisfies Record<string, Instrument>;
export type GaugeName = keyof typeof GAUGES;

const MODEL = /^(?:gemini|deep-research)[\w.-]{0,60}$/;

/** A model's name comes from users and from upstream: as a label only what looks like one of Google's. */
export const modelLabel = (model: string | undefined): string =>
  model !== undefined && MODEL.test(model) ? model : "other";
