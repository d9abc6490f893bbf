import { expect, test } from "vitest";
import { AppError } from "../errors.ts";
import { type Answer, type Backend, PaidFailure } from "../gemini/search-backend.ts";
import { type DraftSink, executeResearchWithCorrection, type SearchDeps } from "./correct-json.ts";
import { SEARCH_SCHEMA } from "./schemas.ts";
import { silentLog as log } from "../../test/kit/log.ts";

const WHOLE =
  '```json\n{"success": true, "report": "The bridge opened in 1932.", "metadata": {"sources_visited": ["https://a.example"]}}\n```';

function research(ask: Backend["ask"], onDraft?: DraftSink) {
  const deps: SearchDeps = {
    backend: { name: "api", obstacle: () => undefined, ask },
    prompts: { render: () => "a correction", hasPlaceFor: () => true },
    invalidOutputs: { keep: async () => ({ path: "/nowhere", remove: async () => {} }) },
    clock: { now: () => 0, monotonic: () => 0, sleep: async () => {} },
    log,
    model: undefined,
    correctionModel: undefined,
    maxCycles: 3,
  };
  const call = {
    signal: new AbortController().signal,
    onActivity: () => {},
    onDraft,
    onRoundStart: () => {},
    onAsk: async () => () => {},
  };
  return executeResearchWithCorrection(deps, { prompt: "question", echo: "question", schema: SEARCH_SCHEMA }, call);
}

const prose = (text: string): Answer => ({
  text,
  model: "m",
  backend: "api",
  usage: { input: 1, output: 1, cached: 0, searches: 0 },
  cut: false,
  sources: [],
  unreadUrls: [],
  openedUrls: [],
  queries: [],
  isGrounded: true,
  searchSuggestions: [],
  notices: [],
});

const broken = (partial: string, retryable: boolean) => async (): Promise<Answer> => {
  throw new AppError({
    code: "GEMINI_UNAVAILABLE",
    message: "The connection broke.",
    details: { partial_text: partial },
    retryable,
  });
};

test("a draft that cannot be shown does not end the call: its answer arrives (A13, C7)", async () => {
  const ask: Backend["ask"] = async ({ onText }) => {
    onText?.(WHOLE.slice(0, WHOLE.indexOf(" in 1932")));
    return prose(WHOLE);
  };
  const shown: (string | undefined)[] = [];
  const { answer } = await research(ask, (read) => {
    shown.push(read());
    throw new Error("The terminal is gone.");
  });
  expect([shown, answer.report]).toEqual([["The bridge opened"], "The bridge opened in 1932."]);
});

test.each([true, false])("a complete answer of a failed call is used (retryable: %s) (E6, C7)", async (retryable) => {
  const { answer, sources } = await research(broken(WHOLE, retryable));
  expect(answer.report).toBe("The bridge opened in 1932.");
  expect(sources).toEqual([{ url: "https://a.example", title: "" }]);
});

test("an incomplete answer of a failed call is not used, but its text is kept (D5, E6)", async () => {
  const half = WHOLE.slice(0, WHOLE.indexOf(" in 1932"));
  await expect(research(broken(half, true))).rejects.toMatchObject({
    code: "GEMINI_UNAVAILABLE",
    details: { partial_text: "The bridge opened" },
  });
});

const PROSE = "The bridge opened in 1932, after eight years of work. ".repeat(40);

test.each([
  new AppError({ code: "GEMINI_UNAVAILABLE", message: "Too slow." }),
  new AppError({ code: "CANCELLED", message: "Cancelled." }),
])("the text of an earlier answer is in the error that ends the search: $code (E6, L2)", async (failure) => {
  const answers = [prose(PROSE), failure, failure];
  const ask = async (): Promise<Answer> => {
    const next = answers.shift();
    if (next === undefined || next instanceof AppError) throw next ?? failure;
    return next;
  };
  const error: unknown = await research(ask).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: failure.code });
  expect(JSON.stringify(error instanceof AppError ? error.details : "")).toContain("after eight years of work");
});

test("what a cancelled call had received is in its error (L2)", async () => {
  const cancelled = new AppError({ code: "CANCELLED", message: "Cancelled." });
  const ask = async (): Promise<Answer> => {
    throw new PaidFailure(cancelled, prose(PROSE));
  };
  await expect(research(ask)).rejects.toMatchObject({
    code: "CANCELLED",
    details: { best_text: expect.stringContaining("after eight years of work") },
  });
});

test("a failure that cannot be retried is not retried (C8)", async () => {
  let calls = 0;
  const refuse = async (): Promise<Answer> => {
    calls += 1;
    throw new AppError({ code: "GEMINI_UNAVAILABLE", message: "Google rejected the API key.", reason: "auth" });
  };
  await expect(research(refuse)).rejects.toMatchObject({ reason: "auth" });
  expect(calls).toBe(1);
});
