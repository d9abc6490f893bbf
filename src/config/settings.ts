/**
 * Every setting with its schema, default and description, in two groups: those of a user, and those of the operator of a
 * server or a fleet. The reference and the command line flags are generated from them. A value that no user or operator
 * has a reason to change is a constant beside its code.
 */

import { z } from "zod";
import { type McpServerEntry, mcpServers } from "./mcp-servers.ts";
import { DEFAULT_TOOLS, TOOL_CHOICES, toolSetSetting } from "./tool-sets.ts";

const wholeNumber = (min: number, max: number) => z.coerce.number().int().min(min).max(max);
const text = () => z.string().trim().min(1).optional();
const list = () =>
  z.string().transform((value) =>
    value
      .split(",")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ""),
  );
/** Placeholders of examples, and references that clients pass on unexpanded if the variable is not set. */
const NO_SECRET = /^(?:|YOUR_API_KEY_HERE|\$\w+|\$\{[\w:-]+\})$/;
const url = () => z.url({ protocol: /^https?$/ }).optional();
const secret = () =>
  z
    .string()
    .trim()
    .optional()
    .transform((value) => (value === undefined || NO_SECRET.test(value) ? undefined : value));

export interface Setting<T> {
  /** Built only for a value that is set: all of them together take milliseconds of every start. */
  schema: () => z.ZodType<T>;
  /** The value if nothing is set, as printed in the reference. */
  default: T;
  about: string;
  /** Other names, read if the first is not set. */
  aliases?: readonly string[];
  flag?: string;
  /** What is accepted, as a sentence for the warning about an invalid value. */
  choices?: string;
  /** The value is JSON: in config.json it may be written as an object. */
  isJson?: boolean;
}

const setting = <T>(value: Setting<T>): Setting<T> => value;

/** A setting that is undefined unless it is set. */
const optional = <T = string>(value: Omit<Setting<T | undefined>, "default">): Setting<T | undefined> => ({
  ...value,
  default: undefined,
});

/** A soft and a hard amount in US dollars. */
const AMOUNT = String.raw`\$?(?:\d{1,7}(?:\.\d*)?|\.\d+)`;
const BUDGET = String.raw`${AMOUNT}(?:\/${AMOUNT})?`;
const PERIOD = String.raw`${BUDGET} ?(?:a |per |\/)(?:day|month)`;

const budget = (value: string, about: string): Setting<string> => ({
  schema: () =>
    z
      .string()
      .trim()
      .regex(new RegExp(`^(?:off|${BUDGET})$`)),
  default: value,
  about,
  choices: "Use an amount in US dollars, a soft and a hard one such as 20/60, or off.",
});

export const USER_SETTINGS = {
  GEMINI_API_KEY: optional({
    schema: secret,
    about: "Gemini API key. Needed by the API backend; the CLI signs in with it when it is set.",
    aliases: ["GOOGLE_API_KEY"],
  }),
  SEARCH_BACKEND: setting<"auto" | "cli" | "api">({
    schema: () => z.enum(["auto", "cli", "api"]),
    default: "auto",
    about:
      "Backend for searches: the Gemini CLI, the Gemini API, or (`auto`) the CLI if it is installed and the API otherwise.",
    flag: "backend",
  }),
  GEMINI_MODEL: optional({
    schema: text,
    about:
      "Model for searches. Unset: the Gemini CLI chooses its own, the API backend uses its built-in default. `flash` saves the paid call with which the CLI chooses.",
    flag: "model",
  }),
  GEMINI_CORRECTION_MODEL: optional({
    schema: text,
    about: "Model for JSON corrections, independent of GEMINI_MODEL.",
    aliases: ["SECONDARY_GEMINI_MODEL"],
  }),
  DEEP_SEARCH_MAX_ITERATIONS: setting({
    schema: () =>
      z.coerce
        .number()
        .int()
        .transform((rounds) => Math.min(20, Math.max(2, rounds))),
    default: 5,
    about: "Maximum rounds of a deep_search (2 to 20).",
  }),
  GEMINI_SEARCH_TIMEOUT: setting({
    schema: () => wholeNumber(1_000, 3_600_000),
    default: 300_000,
    about: "Time limit for one model call, in milliseconds.",
  }),
  JSON_MAX_RETRIES: setting({
    schema: () => wholeNumber(1, 10),
    default: 3,
    about: "Maximum number of cycles of question and correction per answer.",
  }),
  PROGRESS_LOG_INTERVAL: setting({
    schema: () => wholeNumber(100, 3_600_000),
    default: 30_000,
    about: "Interval of the log lines about a running model call, in milliseconds.",
  }),
  GEMINI_CLI_MAX_CHILDREN: setting({
    schema: () => wholeNumber(1, 64),
    default: 3,
    about: "Maximum number of Gemini CLI processes on this machine, over all servers that share the config directory.",
  }),
  FIRECRAWL_API_KEY: optional({
    schema: secret,
    about: "Gives the Gemini CLI the Firecrawl tools.",
  }),
  FIRECRAWL_API_URL: optional({
    schema: text,
    about: "URL of a self-hosted Firecrawl.",
  }),
  GEMINI_SYSTEM_PROMPT: optional({
    schema: () => z.string().min(1).optional(),
    about: "Replaces the prompt of deep_research; {topic}, {depth} and {model} are filled in.",
  }),
  RESEARCH_SYNC_WINDOW_MS: setting({
    schema: () => wholeNumber(0, 25_000),
    default: 20_000,
    about:
      "How long a call waits for its result, in milliseconds, before start_deep_research lets the run continue in the background, or, for a client that accepts MCP tasks, a longer call becomes a task. 0: at once.",
  }),
  RESEARCH_CONFIRM_ABOVE_USD: setting({
    schema: () =>
      z
        .string()
        .trim()
        .regex(new RegExp(`^${BUDGET}$`)),
    default: "5",
    about:
      "Ask the user before starting research whose likely cost (see estimate_research_cost) is above this amount in US dollars, or unknown. 0 means always. `5/12` also refuses a run that may cost more than 12, and ends the rounds of a deep search before they do.",
    choices: "Use an amount in US dollars, or two such as 5/12.",
  }),
  BUDGET_DAY_USD: budget(
    "20",
    "Budget of all users for a day (UTC), in US dollars: `20`, or `20/60` with a hard limit; `off`: none. The starts that reach 50, 80 and 95 % of the first amount say so. Above it the user is asked before each start, and a start is refused where no user can be asked. Above the second nothing is started or searched; running research continues. Every paid request counts with its cost, and with the upper end of its estimate until Google has reported the usage.",
  ),
  BUDGET_MONTH_USD: budget("off", "The same for a calendar month."),
  BUDGET_OWNER_USD: setting<string>({
    schema: () =>
      z
        .string()
        .trim()
        .regex(new RegExp(`^(?!.*day.*day|.*month.*month)(?:off|${PERIOD}(?:, *${PERIOD})?)$`)),
    default: "off",
    about: "The same for each user of a shared server, with its period: `5 a day`, `5/10 a day, 50 a month`.",
    choices: "Use amounts in US dollars with their periods, such as 5/10 a day, 50 a month, or off.",
  }),
  RESEARCH_KEEP_DAYS: setting<number>({
    schema: () => z.preprocess((value) => (value === "never" ? 0 : value), wholeNumber(0, 100_000)),
    default: 730,
    about: "Days until a finished run is deleted with all its data; `0` or `never` keeps it. Saved files are kept.",
  }),
  RESOLVE_SOURCE_LINKS: setting<boolean>({
    schema: () => z.stringbool(),
    default: false,
    about:
      "Resolve each source link once at Google's redirect host after a run has ended; no page is read. docs/google-terms.md explains why it is off by default.",
  }),
  VERIFY_CITATIONS: setting<"on-request" | "auto">({
    schema: () => z.enum(["on-request", "auto"]),
    default: "on-request",
    about:
      "`auto` fetches the pages that each finished report cites and compares them with its claims; otherwise that happens only when a user asks for it. docs/google-terms.md explains why it is off by default.",
  }),
  VERIFY_JUDGE: setting<"auto" | "off" | number>({
    schema: () => z.union([z.enum(["auto", "off"]), z.coerce.number().min(0).max(1_000)]),
    default: "auto",
    about:
      "`auto` lets verify_citations ask Gemini's Decisions API how likely a cited page says what it does not say literally, about $0.001 a page and at most $0.05 a report (needs GEMINI_API_KEY). An amount in US dollars is another limit per report. `off` asks nothing; nor do checks with VERIFY_CITATIONS=auto.",
  }),
  RESEARCH_REPORTS_DIR: optional({
    schema: text,
    about: "Default directory of save_research_to_markdown; for callers over the network the only one allowed.",
  }),
  GEMINI_SEARCH_FILE_ROOTS: setting<readonly string[]>({
    schema: list,
    default: [],
    about:
      "Directories, separated by commas, whose files an MCP client on this machine may send with a research question. Unset: the working directory of the server, unless it is the home directory or above it.",
  }),
  GEMINI_SEARCH_MCP_SERVERS: setting<Readonly<Record<string, McpServerEntry>>>({
    schema: mcpServers,
    default: {},
    about:
      'Remote MCP servers that a research may use by name, as JSON: `{"crm": {"url": "https://…", "headers": {"Authorization": "Bearer ${CRM_TOKEN}"}, "allowed_tools": ["find"]}}`. `${NAME}` is read from the environment; in config.json the value may be an object.',
    isJson: true,
  }),
  GEMINI_SEARCH_TEMPLATES_DIR: optional({
    schema: text,
    about:
      "Directory with your own versions of the prompts (`search-prompt.md`, `deep-search-prompt.md`, `verify-prompt.md`, `research-prompt.md`, `correction-prompt.md`) and of `report.md.liquid`, the template of saved reports, directly in it; those that it does not contain are built in.",
  }),
  DEEP_RESEARCH_DB: optional({
    schema: text,
    about: "The database file. Default: deep_research.db in the config directory.",
  }),
  GOOGLE_GEMINI_BASE_URL: optional({
    schema: url,
    about: "Alternative base URL of the Gemini API, for example a company gateway.",
  }),
  GEMINI_SEARCH_TOOLS: setting<string>({
    schema: toolSetSetting,
    default: DEFAULT_TOOLS,
    about:
      "Tools that assistants are offered: `core` (the three depths, status and results), `research`, `all` (`compare_reports`, `read_page` and `schedule_research`, too), or tool names separated by commas. Over HTTP a client chooses its own with `/mcp?tools=`, `read_page` only if this offers it.",
    choices: TOOL_CHOICES,
  }),
  DEBUG: setting({
    schema: () => z.stringbool(),
    default: false,
    about: "`true` logs each step in detail.",
  }),
} as const;

export const OPERATOR_SETTINGS = {
  GEMINI_SEARCH_DATABASE_URL: optional({
    schema: secret,
    about:
      "PostgreSQL database (15 or later) that holds the state instead of the file, for several machines: `postgres://user:password@host/database`. Needs `npm install pg pg-boss@12.35.0`.",
  }),
  RESEARCH_POLL_INTERVAL_MS: setting({
    schema: () => wholeNumber(100, 600_000),
    default: 10_000,
    about: "Poll interval of an unfinished research run, in milliseconds; longer if there are many.",
  }),
  RESEARCH_MAX_RPS: setting({
    schema: () =>
      z.coerce
        .number()
        .max(10_000)
        .refine((perSecond) => perSecond === 0 || perSecond >= 0.1),
    default: 5,
    about:
      "Maximum polls of Google per second, over all processes that share the database and the key. 0: this process leaves unfinished runs to the others, for example to `worker` on other machines.",
  }),
  MCP_SERVER_HOST: setting({
    schema: () => z.string().trim().min(1),
    default: "127.0.0.1",
    about: "Address that `serve` listens on.",
  }),
  MCP_SERVER_PORT: setting({
    schema: () => wholeNumber(0, 65_535),
    default: 3_000,
    about: "Port that `serve` listens on; 0 takes any free one.",
  }),
  MCP_PUBLIC_URL: optional({
    schema: text,
    about:
      "The URL under which clients reach this server, without `/mcp`. The audience of OAuth tokens must be this URL with `/mcp`. Notifications link to it, and with https Google is asked to announce there that research has ended.",
  }),
  MCP_ALLOWED_HOSTS: setting<readonly string[]>({
    schema: list,
    default: [],
    about:
      "Host names besides loopback and that of MCP_PUBLIC_URL under which clients reach `serve`, and whose web pages may use it, separated by commas. An origin such as `https://app.example` only lets its web pages use `serve`.",
  }),
  MCP_AUTH_TOKEN: optional({
    schema: secret,
    about:
      "The token that HTTP clients send as `Authorization: Bearer`, at least 16 characters. Unset: one is generated at the first start and stored in `token` in the config directory.",
  }),
  MCP_OAUTH_ISSUER: optional({
    schema: text,
    about:
      "OAuth authorization server whose JWT access tokens are accepted as well, spelled as in its metadata. https, or http on this machine; needs MCP_PUBLIC_URL.",
  }),
  MCP_RATE_LIMIT_PER_MINUTE: setting({
    schema: () => wholeNumber(0, 1_000_000),
    default: 600,
    about: "Maximum number of HTTP requests per minute and user; 0 means no limit.",
  }),
  LOG_FORMAT: setting<"text" | "json">({
    schema: () => z.enum(["text", "json"]),
    default: "text",
    about: "`json` writes one JSON object per log line.",
  }),
} as const;

export const SETTINGS = { ...USER_SETTINGS, ...OPERATOR_SETTINGS } as const;

/** Names of earlier versions, with what replaces them: a limit must not vanish silently. */
export const REMOVED_SETTINGS: Readonly<Record<string, string>> = {
  BUDGET_OWNER_DAY_USD: "Set BUDGET_OWNER_USD, for example to `5/10 a day`.",
  BUDGET_OWNER_MONTH_USD: "Set BUDGET_OWNER_USD, for example to `50 a month`, or `5 a day, 50 a month`.",
  MCP_ALLOWED_ORIGINS: "Add the origins to MCP_ALLOWED_HOSTS.",
  GEMINI_SEARCH_PROMPTS_DIR: "Set GEMINI_SEARCH_TEMPLATES_DIR, which holds prompts as well.",
};

export type SettingValues = { [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name]["default"] };
