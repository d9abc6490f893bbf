/** What the Gemini CLI sees of our environment: no secret it does not need, no switch that prints one. */

import type { Firecrawl } from "./settings.ts";
import type { SignIn } from "./sign-in.ts";

export interface ChildEnvironmentInput {
  parent: Record<string, string | undefined>;
  signIn: SignIn;
  apiKey: string | undefined;
  firecrawl: Firecrawl;
  paths: {
    /** Holds `.gemini`. */
    cliHome: string;
    temporary: string;
    systemPromptFile: string;
    compileCache: string;
  };
}

/**
 * Not for the child, whatever their value. `GEMINI_MODEL` would decide for corrections too (C3);
 * the debug and telemetry switches print or send prompts and keys; a sandbox would move the prompt
 * into a command line; the editor's variables would tie the CLI to the editor.
 */
const UNWANTED = [
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

/** Secrets by name that belong to a way of signing in. */
const NEEDED: Record<SignIn["by"], RegExp> = {
  // Headers for a company gateway may carry its own sign-in.
  key: /^GEMINI_CLI_CUSTOM_HEADERS$|^GEMINI_API_KEY_AUTH_MECHANISM$/,
  vertex: /^GOOGLE_API_KEY$|^GOOGLE_APPLICATION_CREDENTIALS$|^GEMINI_CLI_CUSTOM_HEADERS$/,
  own: /^GOOGLE_APPLICATION_CREDENTIALS$|^GOOGLE_CLOUD_ACCESS_TOKEN$|^GEMINI_CLI_CUSTOM_HEADERS$|^GEMINI_API_KEY_AUTH_MECHANISM$/,
};

/** Attach a debugger or load a file into every Node process: meant for ours, and `--inspect-brk` would hang the child. */
const NODE_OPTIONS_FOR_US = /--inspect|--require|--import|--loader|--experimental-loader|(?:^|\s)-r\s/;

export function childEnvironment(input: ChildEnvironmentInput): Record<string, string> {
  const { parent, signIn, apiKey, firecrawl, paths } = input;
  const inherited = Object.entries(parent).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && passes(entry[0], entry[1], signIn),
  );
  return {
    ...Object.fromEntries(inherited),
    ...signIn.variables,
    ...(signIn.by === "key" && apiKey !== undefined ? { GEMINI_API_KEY: apiKey } : {}),
    ...(firecrawl.apiKey === undefined ? {} : { FIRECRAWL_API_KEY: firecrawl.apiKey }),
    ...(firecrawl.apiUrl === undefined ? {} : { FIRECRAWL_API_URL: firecrawl.apiUrl }),
    GEMINI_CLI_HOME: paths.cliHome,
    GEMINI_SYSTEM_MD: paths.systemPromptFile,
    // Otherwise it starts itself a second time and the first one swallows every signal.
    GEMINI_CLI_NO_RELAUNCH: "true",
    // C4: a server of ours that finds more than 0 here refuses to work.
    GEMINI_SEARCH_DEPTH: String(depthOf(parent) + 1),
    // A lapsed login becomes exit code 41 instead of a browser window and five minutes of waiting.
    NO_BROWSER: "true",
    NO_COLOR: "1",
    // On errors the CLI writes the whole request there.
    TMPDIR: paths.temporary,
    TMP: paths.temporary,
    TEMP: paths.temporary,
    // Saves a fifth of a call's start-up.
    NODE_COMPILE_CACHE: paths.compileCache,
  };
}

export function depthOf(environment: Record<string, string | undefined>): number {
  const depth = Number.parseInt(environment["GEMINI_SEARCH_DEPTH"] ?? "", 10);
  return Number.isSafeInteger(depth) && depth > 0 ? depth : 0;
}

function passes(name: string, value: string, signIn: SignIn): boolean {
  // Windows spells names as it likes.
  const upper = name.toUpperCase();
  if (UNWANTED.some((pattern) => pattern.test(upper))) return false;
  if (upper === "TMPDIR" || upper === "TMP" || upper === "TEMP") return false;
  if (upper === "NODE_OPTIONS") return !NODE_OPTIONS_FOR_US.test(value);
  // With our key these would send the CLI elsewhere.
  if (signIn.by === "key" && /^GOOGLE_GENAI_USE_|^CLOUD_SHELL$/.test(upper)) return false;
  if (PROXY.test(upper) || NEEDED[signIn.by].test(upper)) return true;
  return !SECRET_NAME.test(upper) && !SECRET_VALUE.test(value);
}
