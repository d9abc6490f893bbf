import { expect, test } from "vitest";
import { AppError } from "../errors.ts";
import type { Answer } from "../gemini/search-backend.ts";
import { executeResearchWithCorrection, type SearchDeps } from "./correct-json.ts";
import { SEARCH_SCHEMA } from "./schemas.ts";
import { silentLog as log } from "../../test/kit/log.ts";

const WHOLE =
  '```json\n{"success": true, "report": "The bridge opened in 1932.", "metadata": {"sources_visited": ["https://a.example"]}}\n```';

function research(ask: () => Promise<Answer>) {
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
    onRoundStart: () => {},
    onAnswer: () => {},
  };
  return executeResearchWithCorrection(deps, { prompt: "question", echo: "question", schema: SEARCH_SCHEMA }, call);
}

const broken = (partial: string, retryable: boolean) => async (): Promise<Answer> => {
  throw new AppError({
    code: "GEMINI_UNAVAILABLE",
    message: "The connection broke.",
    details: { partial_text: partial },
    retryable,
  });
};

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

test("a failure that cannot be retried is not retried (C8)", async () => {
  let calls = 0;
  const refuse = async (): Promise<Answer> => {
    calls += 1;
    throw new AppError({ code: "GEMINI_UNAVAILABLE", message: "Google rejected the API key.", reason: "auth" });
  };
  await expect(research(refuse)).rejects.toMatchObject({ reason: "auth" });
  expect(calls).toBe(1);
});
