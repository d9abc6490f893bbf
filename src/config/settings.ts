/** Every setting: what it takes, what it is when unset, what it is for. The reference and the flags are made from it. */

import { z } from "zod";
import { list, secret, setting, text, url, wholeNumber } from "./setting.ts";
import { TELEMETRY_SETTINGS } from "./telemetry-settings.ts";

export const SETTINGS = {
  GEMINI_API_KEY: setting<string | undefined>({
    schema: secret,
    default: undefined,
    about: "Gemini API key. Needed by the API backend; the CLI signs in with it when it is set.",
    aliases: ["GOOGLE_API_KEY"],
  }),
  SEARCH_BACKEND: setting<"auto" | "cli" | "api">({
    schema: z.enum(["auto", "cli", "api"]),
    default: "auto",
    about: "Who answers searches: the Gemini CLI, the Gemini API, or the CLI where it is installed and else the API.",
    flag: "backend",
  }),
  GEMINI_MODEL: setting<string | undefined>({
    schema: text,
    default: undefined,
    about:
      "Model for searches. Unset: the Gemini CLI chooses its own, the API backend uses its built-in default. `flash` saves the CLI a paid call that chooses.",
    flag: "model",
  }),
  GEMINI_CORRECTION_MODEL: setting<string | undefined>({
    schema: text,
    default: undefined,
    about: "Model for JSON corrections, independent of GEMINI_MODEL.",
    aliases: ["SECONDARY_GEMINI_MODEL"],
  }),
  DEEP_SEARCH_MAX_ITERATIONS: setting({
    schema: z.coerce
      .number()
      .int()
      .transform((rounds) => Math.min(20, Math.max(2, rounds))),
    default: 5,
    about: "Max rounds of a deep_search (2 to 20).",
  }),
  GEMINI_SEARCH_TIMEOUT: setting({
    schema: wholeNumber(1_000, 3_600_000),
    default: 300_000,
    about: "Longest time for one model call, in milliseconds.",
  }),
  JSON_MAX_RETRIES: setting({
    schema: wholeNumber(1, 10),
    default: 3,
    about: "Most cycles of question and correction before an answer is given up.",
  }),
  PROGRESS_LOG_INTERVAL: setting({
    schema: wholeNumber(100, 3_600_000),
    default: 30_000,
    about: "How often the log says that a model call still lasts, in milliseconds.",
  }),
  GEMINI_CLI_MAX_CHILDREN: setting({
    schema: wholeNumber(1, 64),
    default: 3,
    about: "Most Gemini CLI processes at a time on this machine, over all servers that share the config directory.",
  }),
  FIRECRAWL_API_KEY: setting<string | undefined>({
    schema: secret,
    default: undefined,
    about: "Gives the Gemini CLI the Firecrawl tools.",
  }),
  FIRECRAWL_API_URL: setting<string | undefined>({
    schema: text,
    default: undefined,
    about: "Address of a Firecrawl of your own.",
  }),
  GEMINI_SYSTEM_PROMPT: setting<string | undefined>({
    schema: z.string().min(1).optional(),
    default: undefined,
    about: "Replaces the prompt of deep_research; {topic}, {depth} and {model} are filled in.",
  }),
  RESEARCH_SYNC_WINDOW_MS: setting({
    schema: wholeNumber(0, 25_000),
    default: 20_000,
    about: "How long start_deep_research waits for a result before it goes on in the background, in milliseconds.",
  }),
  RESEARCH_POLL_INTERVAL_MS: setting({
    schema: wholeNumber(100, 600_000),
    default: 10_000,
    about: "How often an unfinished research is polled, in milliseconds; longer when there are many.",
  }),
  RESEARCH_MAX_RPS: setting({
    schema: z.coerce.number().min(0.1).max(10_000),
    default: 5,
    about: "Max polls of Google per second, over all processes that share the database and the key.",
  }),
  RESEARCH_FOLLOW: setting({
    schema: z.stringbool(),
    default: true,
    about: "`off`: this server leaves unfinished researches to others, for example to `worker` on other machines.",
  }),
  RESEARCH_MAX_UNFINISHED: setting({
    schema: wholeNumber(0, 10_000_000),
    default: 20_000,
    about: "Above so many unfinished researches, over all processes, no more are started; 0 is no limit.",
  }),
  RESEARCH_MAX_RUNS_PER_USER: setting({
    schema: wholeNumber(0, 1_000_000),
    default: 100,
    about:
      "Most unfinished researches of one user; 0 is no limit. Not for `local`, who runs the server: only for those who come with a token or an account of their own.",
  }),
  RESEARCH_MAX_STARTS_PER_MINUTE: setting({
    schema: wholeNumber(0, 60_000),
    default: 0,
    about: "Most researches started per minute with one API key, over all processes; 0 leaves it to Google's quota.",
  }),
  RESEARCH_CONFIRM_ABOVE_USD: setting({
    schema: z.coerce.number().min(0).max(1_000_000),
    default: 5,
    about:
      "The user is asked before a deep research whose likely cost, as estimate_research_cost says it, is above this sum in US dollars, or not known. 0: always.",
  }),
  RESEARCH_INLINE_CHARACTERS: setting({
    schema: wholeNumber(30_000, 2_000_000),
    default: 100_000,
    about:
      "Longest report that an MCP client is sent whole; a longer one comes as its opening and an outline. Lower it for clients that cut long answers. The command line and files always get the whole report.",
  }),
  RESEARCH_KEEP_DAYS: setting<number>({
    schema: z.preprocess((value) => (value === "never" ? 0 : value), wholeNumber(0, 100_000)),
    default: 730,
    about:
      "Runs that ended longer ago are deleted with everything that belongs to them; `0` or `never` keeps them. Saved files stay.",
  }),
  RESOLVE_SOURCE_LINKS: setting<boolean>({
    schema: z.stringbool(),
    default: false,
    about:
      "Ask Google's redirect host once where each source link leads, after a run has ended; no page is read. docs/google-terms.md says why it is off.",
  }),
  RESEARCH_REPORTS_DIR: setting<string | undefined>({
    schema: text,
    default: undefined,
    about: "Where save_research_to_markdown saves by default; over the network the only place it may.",
  }),
  GEMINI_SEARCH_PROMPTS_DIR: setting<string | undefined>({
    schema: text,
    default: undefined,
    about: "Directory with your own versions of prompts/*.md.",
  }),
  GEMINI_SEARCH_TEMPLATES_DIR: setting<string | undefined>({
    schema: text,
    default: undefined,
    about: "Directory with your own version of templates/report.md.liquid, by which reports are saved.",
  }),
  DEEP_RESEARCH_DB: setting<string | undefined>({
    schema: text,
    default: undefined,
    about: "The database file. Default: deep_research.db in the config directory.",
  }),
  GEMINI_SEARCH_DATABASE_URL: setting<string | undefined>({
    schema: secret,
    default: undefined,
    about:
      "A PostgreSQL (15 or later) that holds the state instead of the file, for several machines: `postgres://user:password@host/database`. Needs `npm install pg pg-boss@12.35.0`.",
  }),
  GEMINI_SEARCH_DATABASE_CONNECTIONS: setting({
    schema: wholeNumber(2, 100),
    default: 8,
    about: "Most connections to PostgreSQL of one process, beside 4 of the job engine and 1 that listens for changes.",
  }),
  GOOGLE_GEMINI_BASE_URL: setting<string | undefined>({
    schema: url,
    default: undefined,
    about: "Another address for the Gemini API, for example a company gateway.",
  }),
  MCP_SERVER_HOST: setting({
    schema: z.string().trim().min(1),
    default: "127.0.0.1",
    about: "Address that `serve` listens on.",
  }),
  MCP_SERVER_PORT: setting({
    schema: wholeNumber(0, 65_535),
    default: 3_000,
    about: "Port that `serve` listens on; 0 takes any free one.",
  }),
  MCP_TASK_AFTER_MS: setting({
    schema: wholeNumber(0, 50_000),
    default: 20_000,
    about:
      "A call that ends within this time is answered directly, also to a client that accepts MCP tasks; after it the call becomes a task. In milliseconds; 0 makes every such call a task at once.",
  }),
  MCP_ALLOWED_HOSTS: setting<readonly string[]>({
    schema: list,
    default: [],
    about: "Host names besides loopback under which `serve` answers, separated by commas.",
  }),
  MCP_ALLOWED_ORIGINS: setting<readonly string[]>({
    schema: list,
    default: [],
    about: "Origins of web pages besides loopback that may use `serve`, separated by commas.",
  }),
  MCP_AUTH_TOKEN: setting<string | undefined>({
    schema: secret,
    default: undefined,
    about:
      "The token that HTTP clients send as `Authorization: Bearer`, at least 16 characters. Unset: one is made at the first start and kept in `token` in the config directory.",
  }),
  MCP_OAUTH_ISSUER: setting<string | undefined>({
    schema: text,
    default: undefined,
    about:
      "An OAuth authorization server whose JWT access tokens are accepted too, spelled as its metadata spells it. https, or http on this machine; needs MCP_PUBLIC_URL.",
  }),
  MCP_PUBLIC_URL: setting<string | undefined>({
    schema: text,
    default: undefined,
    about:
      "The address under which clients reach this server, without `/mcp`. OAuth tokens must name it with `/mcp` as their audience.",
  }),
  MCP_RATE_LIMIT_PER_MINUTE: setting({
    schema: wholeNumber(0, 1_000_000),
    default: 600,
    about: "Most HTTP requests per minute of one user; 0 is no limit.",
  }),
  MCP_MAX_STREAMS_PER_USER: setting({
    schema: wholeNumber(1, 100_000),
    default: 100,
    about:
      "Maximum of event streams that one user has open at a time: running calls, subscriptions and open pages. Never more than half of MCP_MAX_STREAMS.",
  }),
  MCP_MAX_STREAMS: setting({
    schema: wholeNumber(2, 1_000_000),
    default: 1_000,
    about: "Maximum of event streams that `serve` has open at a time, over all users.",
  }),
  ...TELEMETRY_SETTINGS,
  LOG_FORMAT: setting<"text" | "json">({
    schema: z.enum(["text", "json"]),
    default: "text",
    about: "`json` writes one JSON object per log line.",
  }),
  DEBUG: setting({
    schema: z.stringbool(),
    default: false,
    about: "`true` logs what is tried and why.",
  }),
} as const;

export type SettingValues = { [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name]["default"] };
