/**
 * How the Gemini CLI signs in (our key, Vertex AI, or what the user chose for their own CLI), and its environment: no
 * secrets that it does not need, no switches that would print them.
 */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { z } from "zod";
import { type Firecrawl, parseSettings } from "./home.ts";

export interface ChildEnvironmentInput {
  parent: Record<string, string | undefined>;
  signIn: SignIn;
  apiKey: string | undefined;
  firecrawl: Firecrawl;
  paths: {
    /** The folder that contains `.gemini`. */
    cliHome: string;
    temporary: string;
    systemPromptFile: string;
    compileCache: string;
  };
}

/**
 * Never passed to the child. `GEMINI_MODEL` would apply to corrections too (C3); debug and telemetry switches
 * print or send prompts and keys; a sandbox would move the prompt into a command line; the editor's variables
 * would connect the CLI to the editor.
 */
const BLOCKED_VARIABLES = [
  /^GEMINI_MODEL$/,
  /^GEMINI_SEARCH_/,
  /^GEMINI_(?:SYSTEM|WRITE_SYSTEM)_/,
  /^GEMINI_(?:SANDBOX|TELEMETRY|DEBUG|CONTEXT|EXP)/,
  /^GEMINI_CLI_(?:HOME|IDE|ACTIVITY|TRUST|WORKTREE|INTEGRATION|EXP)/,
  /^(?:SANDBOX|SEATBELT|BUILD_SANDBOX)/,
  /^OTEL_|^OTLP_|^GRPC_/,
  /^DEBUG|^DEV$|^NODE_DEBUG|^HTTP2_DEBUG$|^GOOGLE_GENAI_DEBUG$|^LOG_TOKENS$|^LOG_STREAM$/,
  /^NODE_(?:V8_COVERAGE|CHANNEL_FD|UNIQUE_ID|COMPILE_CACHE)|^VSCODE_INSPECTOR_OPTIONS$/,
  /^FIRECRAWL_/,
  /^FORCE_COLOR$|^CLICOLOR/,
];

const SECRET_NAME =
  /KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH|PRIVATE|COOKIE|DATABASE|CONNECTION_STRING|(?:^|_)(?:PASS|DSN|PAT|DB_UR[IL])(?:_|$)/;
const SECRET_VALUE = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*:[^/?#\s]*@|-----BEGIN |AIza[0-9A-Za-z_-]{30}/;

const PROXY = /^(?:HTTPS?|ALL|NO|FTP)_PROXY$|^NPM_CONFIG_(?:HTTPS?_?)?PROXY$/;

/** Variables with secret-like names that a sign-in method needs. */
const CREDENTIAL_VARIABLES: Record<SignIn["by"], RegExp> = {
  // Headers for a company gateway may contain its credentials.
  key: /^GEMINI_CLI_CUSTOM_HEADERS$|^GEMINI_API_KEY_AUTH_MECHANISM$/,
  vertex: /^GOOGLE_API_KEY$|^GOOGLE_APPLICATION_CREDENTIALS$|^GEMINI_CLI_CUSTOM_HEADERS$/,
  own: /^GOOGLE_APPLICATION_CREDENTIALS$|^GOOGLE_CLOUD_ACCESS_TOKEN$|^GEMINI_CLI_CUSTOM_HEADERS$|^GEMINI_API_KEY_AUTH_MECHANISM$/,
};

/** These attach a debugger or load a file into every Node process; `--inspect-brk` would hang the child. */
const DEBUGGER_OPTIONS = /--inspect|--require|--import|--loader|--experimental-loader|(?:^|\s)-r\s/;

export function childEnvironment(input: ChildEnvironmentInput): Record<string, string> {
  const { parent, signIn, apiKey, firecrawl, paths } = input;
  const inherited = Object.entries(parent).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isPassedOn(entry[0], entry[1], signIn),
  );
  return {
    ...Object.fromEntries(inherited),
    ...signIn.variables,
    ...(signIn.by === "key" && apiKey !== undefined ? { GEMINI_API_KEY: apiKey } : {}),
    ...(firecrawl.apiKey === undefined ? {} : { FIRECRAWL_API_KEY: firecrawl.apiKey }),
    ...(firecrawl.apiUrl === undefined ? {} : { FIRECRAWL_API_URL: firecrawl.apiUrl }),
    GEMINI_CLI_HOME: paths.cliHome,
    GEMINI_SYSTEM_MD: paths.systemPromptFile,
    // Otherwise the CLI starts itself again, and the first process swallows every signal.
    GEMINI_CLI_NO_RELAUNCH: "true",
    // A server of ours that finds more than 0 here refuses to start another CLI (C4).
    GEMINI_SEARCH_DEPTH: String(depthOf(parent) + 1),
    // An expired login exits with code 41 instead of opening a browser and waiting five minutes.
    NO_BROWSER: "true",
    NO_COLOR: "1",
    // After an error the CLI writes the whole request to its temporary directory.
    TMPDIR: paths.temporary,
    TMP: paths.temporary,
    TEMP: paths.temporary,
    // Saves a fifth of the start-up time.
    NODE_COMPILE_CACHE: paths.compileCache,
  };
}

export function depthOf(environment: Record<string, string | undefined>): number {
  const depth = Number.parseInt(environment["GEMINI_SEARCH_DEPTH"] ?? "", 10);
  return Number.isSafeInteger(depth) && depth > 0 ? depth : 0;
}

function isPassedOn(name: string, value: string, signIn: SignIn): boolean {
  // Variable names are case-insensitive on Windows.
  const upper = name.toUpperCase();
  if (BLOCKED_VARIABLES.some((pattern) => pattern.test(upper))) return false;
  if (upper === "TMPDIR" || upper === "TMP" || upper === "TEMP") return false;
  if (upper === "NODE_OPTIONS") return !DEBUGGER_OPTIONS.test(value);
  // With our key these would switch the CLI to another sign-in.
  if (signIn.by === "key" && /^GOOGLE_GENAI_USE_|^CLOUD_SHELL$/.test(upper)) return false;
  if (PROXY.test(upper) || CREDENTIAL_VARIABLES[signIn.by].test(upper)) return true;
  return !SECRET_NAME.test(upper) && !SECRET_VALUE.test(value);
}

export interface SignIn {
  by: "key" | "vertex" | "own";
  /** The CLI's name of the sign-in method; undefined leaves the choice to the CLI. */
  type: string | undefined;
  /** Credential files in the user's own CLI home. */
  credentialFiles: readonly string[];
  /** Sign-in variables from the user's `~/.gemini/.env`. */
  variables: Readonly<Record<string, string>>;
}

export interface SignInOptions {
  apiKey: string | undefined;
  vertex: boolean;
  environment: Record<string, string | undefined>;
  /** The folder that holds the user's own `.gemini`. */
  userHome: string;
}

/** The login, the account name, and the encrypted file that replaces a keychain. */
const CREDENTIAL_FILES = ["oauth_creds.json", "google_accounts.json", "gemini-credentials.json"];

const SIGN_IN_VARIABLES = [
  "GEMINI_API_KEY",
  "GOOGLE_API_KEY",
  "GOOGLE_CLOUD_PROJECT",
  "GOOGLE_CLOUD_LOCATION",
  "GOOGLE_GENAI_USE_VERTEXAI",
  "GOOGLE_GENAI_USE_GCA",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "GOOGLE_GEMINI_BASE_URL",
];

export function chooseSignIn(options: SignInOptions): SignIn {
  const { apiKey, vertex, environment } = options;
  const noUserFiles = { credentialFiles: [], variables: {} };
  // With Vertex AI switched on, GOOGLE_API_KEY alone is a Vertex key; GEMINI_API_KEY never is.
  const keyIsForVertex = vertex && !environment["GEMINI_API_KEY"]?.trim();
  if (apiKey !== undefined && !keyIsForVertex) return { by: "key", type: "gemini-api-key", ...noUserFiles };
  if (vertex) return { by: "vertex", type: "vertex-ai", ...noUserFiles };
  return ownSignIn(join(options.userHome, ".gemini"));
}

function ownSignIn(folder: string): SignIn {
  const variables = readVariables(join(folder, ".env"));
  return {
    by: "own",
    type: readChosenType(join(folder, "settings.json")) ?? typeByVariables(variables),
    credentialFiles: CREDENTIAL_FILES.map((name) => join(folder, name)).filter((file) => existsSync(file)),
    variables,
  };
}

const chosenType = z.object({ security: z.object({ auth: z.object({ selectedType: z.string() }) }) });

function readChosenType(file: string): string | undefined {
  return chosenType.safeParse(parseSettings(readText(file) ?? "{}")).data?.security.auth.selectedType;
}

/** Other variables, such as a model, are meant for the user's own sessions. */
function readVariables(file: string): Record<string, string> {
  const text = readText(file);
  if (text === undefined) return {};
  const all = parseEnv(text);
  return Object.fromEntries(
    SIGN_IN_VARIABLES.flatMap((name) => {
      const value = all[name];
      return value === undefined || value === "" ? [] : [[name, value]];
    }),
  );
}

function typeByVariables(variables: Record<string, string>): string | undefined {
  if (variables["GOOGLE_GENAI_USE_GCA"] === "true") return "oauth-personal";
  if (variables["GOOGLE_GENAI_USE_VERTEXAI"] === "true") return "vertex-ai";
  return variables["GEMINI_API_KEY"] === undefined ? undefined : "gemini-api-key";
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
