import { expect, test } from "vitest";
import { childEnvironment, depthOf, type ChildEnvironmentInput } from "./environment.ts";
import type { SignIn } from "./sign-in.ts";

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
