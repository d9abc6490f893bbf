import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  childEnvironment,
  type ChildEnvironmentInput,
  chooseSignIn,
  depthOf,
  type SignIn,
  type SignInOptions,
} from "./environment.ts";

const BY_KEY: SignIn = { by: "key", type: "gemini-api-key", credentialFiles: [], variables: {} };
const BY_VERTEX: SignIn = { ...BY_KEY, by: "vertex", type: "vertex-ai" };
const BY_OWN: SignIn = { ...BY_KEY, by: "own", type: "oauth-personal" };

const paths = {
  cliHome: "/home/call",
  temporary: "/home/call/tmp",
  systemPromptFile: "/prompt.md",
  compileCache: "/cc",
};

function build(parent: Record<string, string | undefined>, more: Partial<ChildEnvironmentInput> = {}) {
  return childEnvironment({ parent, signIn: BY_KEY, apiKey: "the-key", firecrawl: {}, paths, ...more });
}

test("an ordinary environment is passed on, with our own entries added (C3)", () => {
  expect(build({ PATH: "/usr/bin", HOME: "/home/me", LANG: "de_DE.UTF-8", UNSET: undefined })).toEqual({
    PATH: "/usr/bin",
    HOME: "/home/me",
    LANG: "de_DE.UTF-8",
    GEMINI_API_KEY: "the-key",
    GEMINI_CLI_HOME: "/home/call",
    GEMINI_CLI_NO_RELAUNCH: "true",
    GEMINI_SEARCH_DEPTH: "1",
    GEMINI_SYSTEM_MD: "/prompt.md",
    NODE_COMPILE_CACHE: "/cc",
    NO_BROWSER: "true",
    NO_COLOR: "1",
    TMPDIR: "/home/call/tmp",
    TMP: "/home/call/tmp",
    TEMP: "/home/call/tmp",
  });
});

test.each([
  "GEMINI_MODEL",
  "GOOGLE_GENAI_DEBUG",
  "DEBUG",
  "DEBUG_MODE",
  "NODE_DEBUG",
  "GEMINI_DEBUG_LOG_FILE",
  "GEMINI_CLI_ACTIVITY_LOG_TARGET",
  "GEMINI_TELEMETRY_ENABLED",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "GEMINI_SANDBOX",
  "SANDBOX",
  "GEMINI_WRITE_SYSTEM_MD",
  "GEMINI_CLI_IDE_SERVER_PORT",
  "GEMINI_SEARCH_CONFIG_DIR",
  "GOOGLE_GENAI_USE_VERTEXAI",
])("%s is not passed on (C3)", (name) => {
  expect(build({ [name]: "true" })).not.toHaveProperty(name);
});

test.each([
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "GITHUB_TOKEN",
  "OPENAI_API_KEY",
  "MCP_AUTH_TOKEN",
  "PGPASSWORD",
  "DB_PASS",
  "SSH_AUTH_SOCK",
  "DATABASE_URL",
  "GEMINI_SEARCH_DATABASE_URL",
  "SENTRY_DSN",
  "GITLAB_PAT",
  "AZURE_CONNECTION_STRING",
  "GOOGLE_API_KEY",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "FIRECRAWL_API_KEY",
  "npm_config__authToken",
])("the secret %s is not passed on (T9)", (name) => {
  expect(build({ [name]: "value" })).not.toHaveProperty(name);
});

test("a value that is a secret is not passed on under any name (T9)", () => {
  const environment = build({
    CACHE: "redis://user:pass@cache:6379",
    WHERE: "https://example.com/a:b@c",
    CERTIFICATE: "-----BEGIN PRIVATE THING-----",
    MAPS: `AIza${"x".repeat(35)}`,
  });
  expect(environment).not.toHaveProperty("CACHE");
  expect(environment).not.toHaveProperty("CERTIFICATE");
  expect(environment).not.toHaveProperty("MAPS");
  expect(environment).toHaveProperty("WHERE");
});

test("proxies are passed on, with the password they may contain", () => {
  const proxies = {
    HTTPS_PROXY: "http://me:pw@proxy:8080",
    https_proxy: "http://me:pw@proxy:8080",
    NO_PROXY: "localhost",
  };
  expect(build({ ...proxies, NODE_EXTRA_CA_CERTS: "/ca.pem" })).toMatchObject({
    ...proxies,
    NODE_EXTRA_CA_CERTS: "/ca.pem",
  });
});

test("with Vertex AI its variables and application default credentials are passed on, our key is not (C4)", () => {
  const vertex = {
    GOOGLE_GENAI_USE_VERTEXAI: "true",
    GOOGLE_CLOUD_PROJECT: "project",
    GOOGLE_CLOUD_LOCATION: "global",
    GOOGLE_API_KEY: "express",
    GOOGLE_APPLICATION_CREDENTIALS: "/adc.json",
  };
  const environment = build(vertex, { signIn: BY_VERTEX });
  expect(environment).toMatchObject(vertex);
  expect(environment).not.toHaveProperty("GEMINI_API_KEY");
});

test("sign-in variables in ~/.gemini/.env reach the child and override the environment (C4)", () => {
  const signIn = { ...BY_OWN, variables: { GEMINI_API_KEY: "from-file" } };
  expect(build({ GEMINI_API_KEY: "YOUR_API_KEY_HERE" }, { signIn, apiKey: undefined })).toMatchObject({
    GEMINI_API_KEY: "from-file",
  });
});

test("Firecrawl's variables are set only when it is configured (B8)", () => {
  expect(build({}, { firecrawl: { apiUrl: "http://127.0.0.1:3002" } })).toMatchObject({
    FIRECRAWL_API_URL: "http://127.0.0.1:3002",
  });
  expect(build({}, { firecrawl: { apiKey: "fc" } })).toMatchObject({ FIRECRAWL_API_KEY: "fc" });
});

test("every level of nesting increments the depth, and an invalid depth counts as none (T5)", () => {
  expect(build({ GEMINI_SEARCH_DEPTH: "1" })["GEMINI_SEARCH_DEPTH"]).toBe("2");
  expect(["-1", "x", "", undefined, "3"].map((depth) => depthOf({ GEMINI_SEARCH_DEPTH: depth }))).toEqual([
    0, 0, 0, 0, 3,
  ]);
});

test("debugger options are not passed on", () => {
  expect(build({ NODE_OPTIONS: "--inspect-brk=9229" })).not.toHaveProperty("NODE_OPTIONS");
  expect(build({ NODE_OPTIONS: "--use-system-ca" })).toHaveProperty("NODE_OPTIONS");
});

test("on Windows variable names are matched in any case", () => {
  const environment = build({ Gemini_Model: "x", Temp: "C:\\Temp", Path: "C:\\bin", GitHub_Token: "x" });
  expect(Object.keys(environment).filter((name) => /[a-z]/.test(name))).toEqual(["Path"]);
});

let userHome: string;

beforeEach(() => {
  userHome = mkdtempSync(join(tmpdir(), "cli-sign-in-"));
  mkdirSync(join(userHome, ".gemini"));
});

afterEach(() => rmSync(userHome, { recursive: true, force: true }));

const write = (name: string, content: string): void => writeFileSync(join(userHome, ".gemini", name), content);

const choose = (options: Partial<SignInOptions> = {}) =>
  chooseSignIn({ apiKey: undefined, vertex: false, environment: {}, userHome, ...options });

test("our key is used first, and then nothing of the user's sign-in (C4)", () => {
  write("settings.json", '{"security":{"auth":{"selectedType":"oauth-personal"}}}');
  write("oauth_creds.json", "{}");
  expect(choose({ apiKey: "key" })).toEqual({ by: "key", type: "gemini-api-key", credentialFiles: [], variables: {} });
});

test("Vertex AI is used if configured, even with a key that can only be Vertex AI's (C4)", () => {
  expect(choose({ vertex: true })).toMatchObject({ by: "vertex", type: "vertex-ai" });
  expect(choose({ vertex: true, apiKey: "key", environment: { GOOGLE_API_KEY: "key" } })).toMatchObject({
    by: "vertex",
  });
  expect(choose({ vertex: true, apiKey: "key", environment: { GEMINI_API_KEY: "key" } })).toMatchObject({ by: "key" });
});

test("otherwise only the user's own choice and the files that hold it are used (C4)", () => {
  write("settings.json", '{\n// mine\n"security":{"auth":{"selectedType":"oauth-personal"}},"mcpServers":{"mine":{}}}');
  for (const name of [
    "oauth_creds.json",
    "google_accounts.json",
    "gemini-credentials.json",
    "GEMINI.md",
    "mcp-oauth-tokens.json",
  ])
    write(name, "{}");
  expect(choose()).toEqual({
    by: "own",
    type: "oauth-personal",
    credentialFiles: ["oauth_creds.json", "google_accounts.json", "gemini-credentials.json"].map((name) =>
      join(userHome, ".gemini", name),
    ),
    variables: {},
  });
});

test("a key in ~/.gemini/.env counts as the user's choice; the rest of the file is ignored (C4)", () => {
  write(".env", 'GEMINI_API_KEY="from file"\nGEMINI_MODEL=other\nDEBUG=1\nGOOGLE_CLOUD_PROJECT=\n');
  expect(choose()).toEqual({
    by: "own",
    type: "gemini-api-key",
    credentialFiles: [],
    variables: { GEMINI_API_KEY: "from file" },
  });
});

test.each([
  ["no CLI home at all", undefined],
  ["a broken settings file", "{broken"],
  ["an invalid choice", '{"security":{"auth":{"selectedType":5}}}'],
])("%s leaves the choice to the CLI", (_, settings) => {
  if (settings === undefined) rmSync(join(userHome, ".gemini"), { recursive: true });
  else write("settings.json", settings);
  expect(choose()).toMatchObject({ by: "own", type: undefined, credentialFiles: [] });
});
