/** The model's side of one generateContent request: it calls search functions, or answers with evidence. */

import { wordAnswer, type AnswerText } from "./answers.ts";
import {
  findingsIn,
  groundingFor,
  retrieved,
  searchSummary,
  urlContextFor,
  type GroundingMetadata,
  type UrlContextMetadata,
} from "./grounding.ts";
import { fillSchema } from "./json-schema.ts";
import type { PromptReading } from "./prompt.ts";
import { toolNames, type GenerateContentRequest } from "./request.ts";
import { findOnTheWeb, queriesFor, writeResearch, type Findings } from "./research.ts";
import type { Exchange, Scenario, Step } from "../scenario.ts";

interface FunctionCall {
  id: string;
  name: string;
  args: Record<string, string>;
}

export interface ModelTurn {
  text: string;
  finishReason: string;
  calls: FunctionCall[];
  groundingMetadata?: Partial<GroundingMetadata>;
  urlContextMetadata?: UrlContextMetadata;
}

interface TurnInput {
  request: GenerateContentRequest;
  reading: PromptReading;
  exchange: Exchange;
  scenario: Scenario;
}

const OPENED_PAGES = 2;

/** As Google sends it for searches that brought nothing. */
const NO_EVIDENCE: Record<"empty" | "bare", Partial<GroundingMetadata>> = {
  empty: {},
  bare: { webSearchQueries: [""], groundingChunks: [{}] },
};

/** Clients send the id of a function call back with its result: it tells to which exchange the result belongs. */
const CALL_ID = /^sim-(\w+)-/;

export function exchangeIdIn({ toolResults }: PromptReading): string | undefined {
  const ids = toolResults.flatMap(({ id }) => CALL_ID.exec(id ?? "")?.[1] ?? []);
  return ids[0];
}

function callFunctions(exchange: Exchange, name: string, args: Record<string, string>[]): ModelTurn {
  const calls = args.map((one, index) => ({
    id: `sim-${exchange.id}-${name}-${index}`,
    name,
    args: one,
  }));
  return { text: "", finishReason: "STOP", calls };
}

const openPages = (exchange: Exchange, findings: Findings): ModelTurn => {
  const urls = findings.pages.slice(0, OPENED_PAGES).map((page) => page.url);
  return callFunctions(exchange, "web_fetch", [{ prompt: `Summarise what ${urls.join(" and ")} say.` }]);
};

/** Undefined when the model has all that it needs for its answer. */
function nextCalls({ request, reading, exchange, scenario }: TurnInput): ModelTurn | undefined {
  const tools = toolNames(request);
  const results = reading.toolResults;
  if (reading.kind === "correct_json" || !tools.includes("google_web_search")) return undefined;
  if (results.length === 0) {
    const args = queriesFor(reading).map((query) => ({ query }));
    return callFunctions(exchange, "google_web_search", args);
  }
  const opens = scenario.open_pages && tools.includes("web_fetch");
  const opened = results.some((result) => result.name === "web_fetch");
  return opens && !opened ? openPages(exchange, findingsIn(results)) : undefined;
}

function withEvidence(input: TurnInput, answer: AnswerText, findings: Findings): ModelTurn {
  const tools = toolNames(input.request);
  const plainUrls = input.scenario.plain_urls;
  const { grounding } = input.exchange.step;
  const evidence =
    grounding === undefined ? groundingFor(answer.text, findings, { plainUrls }) : NO_EVIDENCE[grounding];
  return {
    ...answer,
    calls: [],
    ...(tools.includes("googleSearch") && { groundingMetadata: evidence }),
    ...(tools.includes("urlContext") && { urlContextMetadata: urlContextFor(findings.pages.map((page) => page.url)) }),
  };
}

/** A model that searched in vain says so, unless the scenario wants something else of it. */
function stepFor({ step }: Exchange, findings: Findings): Step {
  return step.answer === "good" && findings.pages.length === 0 ? { answer: "refusal" } : step;
}

function answerTask(input: TurnInput): ModelTurn {
  const { reading, exchange } = input;
  if (reading.kind === "correct_json") {
    const nothing = writeResearch(reading, { queries: [], pages: [] });
    return { ...wordAnswer(exchange.step, reading, nothing), calls: [] };
  }
  const results = reading.toolResults;
  const findings = results.length > 0 ? findingsIn(results) : findOnTheWeb(reading);
  const step = stepFor(exchange, findings);
  const answer = wordAnswer(step, reading, writeResearch(reading, findings));
  return withEvidence(input, answer, findings);
}

function plainText({ exchange }: TurnInput, text: string): AnswerText {
  const { answer, text: raw } = exchange.step;
  return { text: raw ?? (answer === "empty" ? "" : text), finishReason: "STOP" };
}

function searchTheWeb(input: TurnInput): ModelTurn {
  const findings = findOnTheWeb(input.reading);
  return withEvidence(input, plainText(input, searchSummary(findings.pages)), findings);
}

function readPages(input: TurnInput): ModelTurn {
  const urls = new Set(input.reading.question.match(/https?:\/\/[^\s<>"]+/g) ?? []);
  const lines = [...urls].map((url) => `${url} was read by the simulator: "nothing new".`);
  const answer = plainText(input, lines.join("\n"));
  return { ...answer, calls: [], urlContextMetadata: retrieved([...urls]) };
}

export function takeTurn(input: TurnInput): ModelTurn {
  switch (input.reading.kind) {
    case "json_schema": {
      const { responseJsonSchema, responseSchema } = input.request.generationConfig;
      const json = JSON.stringify(fillSchema(responseJsonSchema ?? responseSchema));
      return { ...plainText(input, json), calls: [] };
    }
    case "web_search":
      return searchTheWeb(input);
    case "web_fetch":
      return readPages(input);
    case "other":
      return {
        ...plainText(input, "This is the Gemini simulator. It knows no such task."),
        calls: [],
      };
    default:
      return nextCalls(input) ?? answerTask(input);
  }
}
