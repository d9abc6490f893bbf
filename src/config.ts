/** The only reader of the environment: one table of settings, one loader, values checked one by one. */

import { chmodSync, mkdirSync, readFileSync, accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { z } from "zod";

export type Environment = Record<string, string | undefined>;

const wholeNumber = (min: number, max: number) => z.coerce.number().int().min(min).max(max);
const text = z.string().trim().min(1).optional();
const ISSUED_BY_EXAMPLES = "YOUR_API_KEY_HERE";
const secret = z
  .string()
  .trim()
  .optional()
  .transform((value) => (value === "" || value === ISSUED_BY_EXAMPLES ? undefined : value));

interface Setting<T> {
  schema: z.ZodType<T>;
  /** The value when nothing is set, as the reference prints it. */
  default: T;
  about: string;
  /** Other names that are read when the first is not set. */
  aliases?: readonly string[];
  flag?: string;
}

const setting = <T>(value: Setting<T>): Setting<T> => value;

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
      "Model for searches. Unset: the Gemini CLI uses its current Flash model (with a Google login: its own choice), the API backend its built-in default.",
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
      .max(10)
      .transform((rounds) => Math.max(2, rounds)),
    default: 5,
    about: "Most rounds of a deep_search (2 to 10).",
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
    about: "How often an unfinished research is looked at, in milliseconds; longer when there are many.",
  }),
  RESEARCH_MAX_RPS: setting({
    schema: z.coerce.number().min(0.1).max(100),
    default: 5,
    about: "Most looks per second at Google, over all processes that share the config directory.",
  }),
  RESEARCH_REPORTS_DIR: setting<string | undefined>({
    schema: text,
    default: undefined,
    about: "Where save_research_to_markdown saves by default.",
  }),
  GEMINI_SEARCH_PROMPTS_DIR: setting<string | undefined>({
    schema: text,
    default: undefined,
    about: "Directory with your own versions of prompts/*.md.",
  }),
  DEEP_RESEARCH_DB: setting<string | undefined>({
    schema: text,
    default: undefined,
    about: "The database file. Default: deep_research.db in the config directory.",
  }),
  GOOGLE_GEMINI_BASE_URL: setting<string | undefined>({
    schema: z.url({ protocol: /^https?$/ }).optional(),
    default: undefined,
    about: "Another address for the Gemini API, for example a company gateway.",
  }),
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

type SettingName = keyof typeof SETTINGS;
type SettingValues = { [Name in SettingName]: (typeof SETTINGS)[Name]["default"] };

export interface Config {
  settings: SettingValues;
  /** Absolute. Created with mode 0700 unless `configDirWritable` is false. */
  configDir: string;
  configDirWritable: boolean;
  databaseFile: string;
  /** Vertex AI was chosen by the SDK's own variables. */
  vertex: boolean;
  /** How many servers of ours stand above this process: more than 0 must not run. */
  depth: number;
  home: string;
  /** What children inherit from, after their own filter. */
  environment: Environment;
  /** Secrets by name, for the redactor. */
  secrets: Record<string, string | undefined>;
  /** What was wrong with the values, to be logged once the log exists. */
  warnings: string[];
}

export interface ConfigSource {
  environment: Environment;
  flags?: Environment;
  platform?: NodeJS.Platform;
  home?: string;
}

export const readEnvironment = (): Environment => process.env;

/** Makes Google's SDK print request headers, the key included, on stdout. */
export function silenceLeakySwitches(): void {
  delete process.env["GOOGLE_GENAI_DEBUG"];
}

export function loadConfig(source: ConfigSource): Config {
  const { environment } = source;
  const home = source.home ?? homedir();
  const warnings: string[] = [];
  const configDir = configDirectory(environment, source.platform ?? process.platform, home);
  const configDirWritable = prepareDirectory(configDir, warnings);
  const file = readConfigFile(join(configDir, "config.json"), warnings);
  const settings = readSettings([source.flags ?? {}, environment, file], warnings);
  return {
    settings,
    configDir,
    configDirWritable,
    databaseFile: resolve(configDir, settings.DEEP_RESEARCH_DB ?? "deep_research.db"),
    vertex: /^(1|true)$/i.test(environment["GOOGLE_GENAI_USE_VERTEXAI"] ?? ""),
    depth: Number.parseInt(environment["GEMINI_SEARCH_DEPTH"] ?? "0", 10) || 0,
    home,
    environment,
    secrets: secretValues(settings),
    warnings,
  };
}

function configDirectory(environment: Environment, platform: NodeJS.Platform, home: string): string {
  const name = "gemini-search-mcp";
  const override = environment["GEMINI_SEARCH_CONFIG_DIR"]?.trim();
  if (override) return resolve(override);
  if (platform === "win32") {
    return join(environment["APPDATA"] ?? join(home, "AppData", "Roaming"), name);
  }
  if (platform === "darwin") return join(home, "Library", "Application Support", name);
  const xdg = environment["XDG_CONFIG_HOME"];
  return join(xdg && isAbsolute(xdg) ? xdg : join(home, ".config"), name);
}

function prepareDirectory(directory: string, warnings: string[]): boolean {
  try {
    const created = mkdirSync(directory, { recursive: true, mode: 0o700 });
    // A umask may have widened nothing but can have narrowed too much.
    if (created !== undefined) chmodSync(directory, 0o700);
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    warnings.push(
      `The config directory ${directory} cannot be created or written. Searches work, but nothing is kept after this process ends. Make it writable or set GEMINI_SEARCH_CONFIG_DIR.`,
    );
    return false;
  }
}

/** `config.json` holds the same names as the environment. */
function readConfigFile(path: string, warnings: string[]): Environment {
  let content: string;
  try {
    content = readFileSync(path, "utf8");
  } catch {
    return {};
  }
  try {
    const entries = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).parse(JSON.parse(content));
    for (const name of Object.keys(entries)) {
      if (!isKnownName(name)) warnings.push(`${path}: ${name} is not a setting; it is ignored.`);
    }
    return Object.fromEntries(Object.entries(entries).map(([name, value]) => [name, String(value)]));
  } catch {
    warnings.push(`${path} is not a JSON object of settings; it is ignored.`);
    return {};
  }
}

const isKnownName = (name: string): boolean =>
  Object.entries(SETTINGS).some(([known, { aliases }]) => known === name || aliases?.includes(name));

function readSettings(layers: Environment[], warnings: string[]): SettingValues {
  const values: Record<string, unknown> = {};
  for (const [name, { schema, default: fallback, aliases = [] }] of Object.entries(SETTINGS) as [
    string,
    Setting<unknown>,
  ][]) {
    values[name] = fallback;
    // Layer by layer: an alias in the environment wins over the name itself in the file.
    for (const candidate of layers.flatMap((layer) => [name, ...aliases].map((key) => ({ key, raw: layer[key] })))) {
      if (candidate.raw === undefined || candidate.raw === "") continue;
      const parsed = schema.safeParse(candidate.raw);
      if (!parsed.success) {
        warnings.push(
          `${candidate.key} has a value that cannot be used; the default (${JSON.stringify(fallback) ?? "unset"}) is used instead.`,
        );
      } else if (parsed.data === undefined) {
        continue;
      } else {
        values[name] = parsed.data;
      }
      break;
    }
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each value passed its own schema or is its default
  return values as SettingValues;
}

function secretValues(settings: SettingValues): Record<string, string | undefined> {
  const { GEMINI_API_KEY, FIRECRAWL_API_KEY } = settings;
  return { GEMINI_API_KEY, FIRECRAWL_API_KEY };
}
