/** SEARCH_BACKEND=auto: the backend that is used, and the notice that its answer carries. */

import { expect, test } from "vitest";
import { AppError } from "../errors.ts";
import { type Answer, type AskRequest, PaidFailure } from "./search-backend.ts";
import { createAutoBackend } from "./choose-backend.ts";
import { cliNotFound } from "./cli/failures.ts";
import { silentLog } from "../../test/kit/log.ts";

const answer = (backend: "cli" | "api"): Answer => ({
  backend,
  text: "x",
  cut: false,
  model: "m",
  sources: [],
  unreadUrls: [],
  openedUrls: [],
  isGrounded: undefined,
  queries: [],
  searchSuggestions: [],
  usage: { input: 1, output: 1, cached: 0, searches: 0 },
  notices: [],
});

const REQUEST: AskRequest = {
  prompt: "q",
  purpose: "research",
  model: undefined,
  signal: new AbortController().signal,
  onActivity: () => {},
};

function autoBackend(cli: { isInstalled: boolean; ask: () => Promise<Answer> }) {
  return createAutoBackend({
    cli: { name: "cli", isInstalled: () => cli.isInstalled, obstacle: () => undefined, ask: cli.ask },
    api: { name: "api", obstacle: () => undefined, ask: async () => answer("api") },
    apiReady: true,
    log: silentLog,
  });
}

test("a missing CLI is no news in an answer of the API (B11)", async () => {
  const missing = autoBackend({ isInstalled: false, ask: async () => answer("cli") });
  const vanished = autoBackend({ isInstalled: true, ask: () => Promise.reject(cliNotFound()) });
  for (const backend of [missing, vanished]) {
    const { backend: name, notices } = await backend.ask(REQUEST);
    expect(name).toBe("api");
    expect(notices).toEqual([]);
  }
});

test("a CLI that cannot sign in is named once it was tried, and is not tried again (B11)", async () => {
  let asked = 0;
  const signedOut = new AppError({ code: "EXECUTION_ERROR", message: "no", reason: "auth" });
  const refuse = (): Promise<Answer> => {
    asked += 1;
    return Promise.reject(signedOut);
  };
  const backend = autoBackend({ isInstalled: true, ask: refuse });
  for (let times = 0; times < 2; times += 1) {
    const { notices } = await backend.ask(REQUEST);
    expect(notices).toEqual([expect.stringMatching(/^The Gemini CLI cannot sign in/)]);
  }
  expect(asked).toBe(1);
});

test("a CLI that fails after a model has answered is not replaced by the API, which would hide what it used (B11, P6)", async () => {
  const refused = new AppError({ code: "EXECUTION_ERROR", message: "no", reason: "auth" });
  const backend = autoBackend({
    isInstalled: true,
    ask: () => Promise.reject(new PaidFailure(refused, answer("cli"))),
  });
  await expect(backend.ask(REQUEST)).rejects.toMatchObject({ reason: "auth", answer: { backend: "cli" } });
});
