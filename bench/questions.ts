/** The prompts of the benches, as the product builds them, so that other programs can be asked the same. */

import { join } from "node:path";
import { createLog } from "../src/platform/log.ts";
import { createPrompts } from "../src/search/prompts.ts";
import { DEEP_SEARCH_SCHEMA, SEARCH_SCHEMA } from "../src/search/schemas.ts";
import { ROOT } from "../test/kit/server/server.ts";

export const QUERY = "How do heat pumps perform in cold climates?";

/** A bench prints tables only. */
export const quietLog = createLog({ from: "ERROR", format: "text", redact: (text) => text });

const prompts = createPrompts({
  packaged: join(ROOT, "prompts"),
  own: undefined,
  now: Date.now,
  log: quietLog,
});

export const searchPrompt = (): string =>
  prompts.render("search-prompt", { query: QUERY, example: SEARCH_SCHEMA.example });

export const deepSearchPrompt = (): string =>
  prompts.render("deep-search-prompt", { query: QUERY, max_rounds: "2", example: DEEP_SEARCH_SCHEMA.example });
