import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { chooseSignIn, type SignInOptions } from "./sign-in.ts";

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

test("the setting of versions before 0.3 is known", () => {
  write("settings.json", '{"selectedAuthType":"vertex-ai"}');
  expect(choose().type).toBe("vertex-ai");
});
