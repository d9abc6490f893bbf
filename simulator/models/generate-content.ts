/** The simulated model's turn for one generateContent request: search calls, or an answer with grounding. */

import { formatAnswer, type AnswerText } from "./answers.ts";
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

/** Google's metadata for searches without results. */
const EMPTY_GROUNDING: Record<"empty" | "bare", Partial<GroundingMetadata>> = {
  empty: {},
  bare: { webSearchQueries: [""], groundingChunks: [{}] },
};

/** Clients return the id of a function call with its result, which identifies the exchange. */
const CALL_ID = /^sim-(\w+)-/;

export function exchangeIdIn({ toolResults }: PromptReading): string | undefined {
  const ids = toolResults.flatMap(({ id }) => CALL_ID.exec(id ?? "")?.[1] ?? []);
  return ids[0];
}

function callFunctions(exchange: Exchange, name: string, args: Record<string, string>[]): ModelTurn {
  const calls = args.map((callArgs, index) => ({
    id: `sim-${exchange.id}-${name}-${index}`,
    name,
    args: callArgs,
  }));
  return { text: "", finishReason: "STOP", calls };
}

const openPages = (exchange: Exchange, findings: Findings): ModelTurn => {
  const urls = findings.pages.slice(0, OPENED_PAGES).map((page) => page.url);
  return callFunctions(exchange, "web_fetch", [{ prompt: `Summarise what ${urls.join(" and ")} say.` }]);
};

/** Opened one by one, so that each call is about one page. */
const openCited = (exchange: Exchange, urls: string[]): ModelTurn =>
  callFunctions(
    exchange,
    "web_fetch",
    urls.map((url) => ({ prompt: `Quote what ${url} says.` })),
  );

/** Undefined if the model needs no further calls. */
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
  if (!opens || opened) return undefined;
  const cited = new Set((reading.claims ?? []).flatMap(({ pages }) => pages.map(({ url }) => url)));
  return cited.size === 0 ? openPages(exchange, findingsIn(results)) : openCited(exchange, [...cited]);
}

/** Some of the pages that it found, or all that a verification has to check or cites. */
function openedFor({ claims }: PromptReading, { pages }: Findings): UrlContextMetadata {
  const found = pages.map(({ url }) => url);
  if (claims === undefined) return urlContextFor(found);
  const checked = claims.flatMap((claim) => claim.pages.map(({ url }) => url));
  return retrieved([...new Set([...checked, ...found])]);
}

function withGrounding(input: TurnInput, answer: AnswerText, findings: Findings): ModelTurn {
  const tools = toolNames(input.request);
  const plainUrls = input.scenario.plain_urls;
  const { grounding } = input.exchange.step;
  if (grounding === "none") return { ...answer, calls: [] };
  const evidence =
    grounding === undefined ? groundingFor(answer.text, findings, { plainUrls }) : EMPTY_GROUNDING[grounding];
  return {
    ...answer,
    calls: [],
    ...(tools.includes("googleSearch") && { groundingMetadata: evidence }),
    ...(tools.includes("urlContext") && { urlContextMetadata: openedFor(input.reading, findings) }),
  };
}

/** A model without findings refuses, unless the scenario defines another answer. */
function stepFor({ step }: Exchange, findings: Findings): Step {
  return step.answer === "good" && findings.pages.length === 0 ? { answer: "refusal" } : step;
}

function answerTask(input: TurnInput): ModelTurn {
  const { reading, exchange } = input;
  if (reading.kind === "correct_json") {
    const nothing = writeResearch(reading, { queries: [], pages: [] });
    return { ...formatAnswer(exchange.step, reading, nothing), calls: [] };
  }
  const results = reading.toolResults;
  const findings = results.length > 0 ? findingsIn(results) : findOnTheWeb(reading);
  const step = stepFor(exchange, findings);
  const answer = formatAnswer(step, reading, writeResearch(reading, findings));
  return withGrounding(input, answer, findings);
}

function plainText({ exchange }: TurnInput, text: string): AnswerText {
  const { answer, text: raw } = exchange.step;
  return { text: raw ?? (answer === "empty" ? "" : text), finishReason: "STOP" };
}

function searchTheWeb(input: TurnInput): ModelTurn {
  const findings = findOnTheWeb(input.reading);
  return withGrounding(input, plainText(input, searchSummary(findings.pages)), findings);
}

function readPages(input: TurnInput): ModelTurn {
  const urls = new Set(input.reading.question.match(/https?:\/\/[^\s<>"]+/g) ?? []);
  const lines = [...urls].map((url) => `${url} was read by the simulator: "nothing new".`);
  const answer = plainText(input, lines.join("\n"));
  return { ...answer, calls: [], urlContextMetadata: retrieved([...urls]) };
}

export function generateTurn(input: TurnInput): ModelTurn {
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
