import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { question, useStandin } from "../../../test/kit/simulator/cli-backend.ts";
import { installStandin } from "../../../simulator/gemini-cli/standin-cli.ts";
import { assertUsable, type CliBackendOptions, escapePrompt } from "./backend.ts";

const scene = useStandin();

const SOURCES = [
  { title: "example.org", url: "https://vertexaisearch.cloud.google.com/grounding-api-redirect/AAA" },
  { title: "B", url: "https://b.example/" },
];

test("a good answer has text, real sources, queries, model, figures and activities", async () => {
  const activities: string[] = [];
  const scenario = {
    text: '{"success":true,"report":"Kyoto é 京都"}',
    model: "gemini-3.8-flash",
    searches: [{ query: "kyoto", sources: SOURCES }],
  };
  const answer = await scene.backend(scenario).ask(question({ onActivity: (activity) => activities.push(activity) }));
  expect(answer).toEqual({
    backend: "cli",
    text: scenario.text,
    cut: false,
    model: "gemini-3.8-flash",
    sources: SOURCES,
    unreadUrls: [],
    openedUrls: [],
    isGrounded: true,
    queries: ["kyoto"],
    searchSuggestions: [],
    // 130 in total: ten thought tokens are billed as output.
    usage: { input: 100, output: 30, cached: 5, searches: 1, groundedPrompts: 1 },
    notices: [],
  });
  expect(activities).toEqual(["Searching: kyoto"]);
  await scene.expectNothingLeft();
});

test("the child gets exactly this command line, environment and directory (C2, C3, C4)", async () => {
  const environment = {
    GEMINI_MODEL: "other",
    GITHUB_TOKEN: "x",
    HTTPS_PROXY: "http://proxy:1",
    GEMINI_SEARCH_DEPTH: "0",
  };
  await scene
    .backend({}, { environment })
    .ask(question({ prompt: "Mail bob@example.com & $(touch /tmp/x) `id`\n", model: "gemini-3.8-flash" }));
  const [record] = scene.ledger();
  expect(record).toMatchObject({
    argv: ["--output-format", "stream-json", "--model", "gemini-3.8-flash"],
    stdin: { text: "Mail bob\\@example.com & $(touch /tmp/x) `id`\n" },
    cwd_listing: [],
    home_listing: [".env", "settings.json"],
    settings: { security: { auth: { selectedType: "gemini-api-key" } } },
    env: {
      GEMINI_SEARCH_DEPTH: "1",
      NO_BROWSER: "true",
      GEMINI_CLI_NO_RELAUNCH: "true",
      HTTPS_PROXY: "http://proxy:1",
    },
  });
  expect(record?.env_names).not.toContain("GEMINI_MODEL");
  expect(record?.env_names).not.toContain("GITHUB_TOKEN");
  expect(record?.env_names).toContain("GEMINI_API_KEY");
  expect(record?.cwd.startsWith(join(scene.folder, "home"))).toBe(true);
});

test("whatever the question, the command line is the same and stdin is the question (T1, T2)", async () => {
  const cli = scene.backend({});
  const hostile = [
    "--yolo",
    "; rm -rf ~",
    "$(id)",
    "`id`",
    "%PATH% ^& |",
    "a\0b",
    "\u2028\r\n-p x",
    "--model=evil",
    "\\",
    "'\"",
  ];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...hostile), fc.string({ unit: "binary", maxLength: 20 }), async (start, rest) => {
      fc.pre(!rest.includes("@"));
      await cli.ask(question({ prompt: start + rest }));
      const record = scene.ledger().at(-1);
      expect(record?.argv).toEqual(["--output-format", "stream-json"]);
      // Invalid text, such as an unpaired surrogate, becomes a replacement character.
      expect(record?.stdin?.text).toBe(Buffer.from(start + rest).toString("utf8"));
    }),
    { numRuns: 10 },
  );
  await scene.expectNothingLeft();
});

test("an .env above our home is not read by the child (C4)", async () => {
  await scene.backend({}).ask(question());
  // The call directory has its own, which the CLI loads first.
  expect(scene.ledger()[0]?.home_listing).toContain(".env");
});

test("the CLI is located once, and again only after it has vanished (C1)", async () => {
  const cli = scene.backend(
    {},
    { environment: { PATH: `${join(scene.folder, "first")}:relative:${join(scene.folder, "bin")}` } },
  );
  expect(cli.isInstalled()).toBe(true);
  installStandin(join(scene.folder, "first"));
  await cli.ask(question());
  renameSync(join(scene.folder, "bin"), join(scene.folder, "elsewhere"));
  expect(cli.isInstalled()).toBe(true);
  rmSync(join(scene.folder, "first"), { recursive: true });
  expect(cli.isInstalled()).toBe(false);
  await expect(cli.ask(question())).rejects.toMatchObject({
    code: "CLI_NOT_FOUND",
    message: expect.stringContaining("npm install -g @google/gemini-cli"),
  });
});

test("a file that is not executable, or a directory, is not the CLI (C1)", () => {
  chmodSync(join(scene.folder, "bin", "gemini"), 0o644);
  mkdirSync(join(scene.folder, "dir", "gemini"), { recursive: true });
  expect(
    scene
      .backend({}, { environment: { PATH: `${join(scene.folder, "dir")}:${join(scene.folder, "bin")}` } })
      .isInstalled(),
  ).toBe(false);
});

test("a call that waits for a slot says so, releases its slot, and can be cancelled while waiting (C9)", async () => {
  const activities: string[] = [];
  let released = 0;
  const slots: CliBackendOptions["slots"] = {
    take: async ({ onWait }) => {
      onWait();
      return () => void (released += 1);
    },
  };
  await scene.backend({}, { slots }).ask(question({ onActivity: (activity) => activities.push(activity) }));
  await expect(scene.backend({ silent: true }, { slots }).ask(question())).rejects.toThrow();
  expect(activities).toEqual(["Waiting for a free Gemini CLI slot"]);
  expect(scene.logged.join("")).toContain("[INFO] All Gemini CLI slots on this machine are in use");
  expect(released).toBe(2);

  const controller = new AbortController();
  const never: CliBackendOptions["slots"] = {
    take: ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("gone")))),
  };
  const call = scene.backend({}, { slots: never }).ask(question({ signal: controller.signal }));
  controller.abort();
  await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
});

test("the log states how long a call has lasted (B4)", async () => {
  await scene.backend({ sleepMs: 500 }, { progressLogIntervalMs: 100 }).ask(question());
  expect(
    scene.logged.filter((line) => /^\[INFO\] Gemini CLI call has been running for \d+ s\n$/.test(line)).length,
  ).toBeGreaterThan(2);
});

test("the key is in no file, no log line and no error (T9)", async () => {
  const cli = scene.backend({ silent: true, exitCode: 1, stderr: "Authorization: canary-key-1234567890" });
  const error = await cli.ask(question()).catch((reason: unknown) => reason);
  const files = readdirSync(join(scene.folder, "home"), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const everything = [
    String(error),
    JSON.stringify(error),
    ...scene.logged,
    ...files.map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8")),
  ];
  expect(everything.join("\n")).not.toContain("canary-key");
  expect(scene.logged.join("")).toContain(
    "[DEBUG] Last stderr output of the Gemini CLI:\n  Authorization: [GEMINI_API_KEY]",
  );
});

test("without a key the user's own sign-in is linked, and a renewed token reaches their file (C4)", async () => {
  const own = join(scene.folder, "user", ".gemini");
  mkdirSync(own, { recursive: true });
  writeFileSync(
    join(own, "settings.json"),
    '{ /* mine */ "security": { "auth": { "selectedType": "oauth-personal" } }, "mcpServers": { "mine": {} } }',
  );
  writeFileSync(join(own, "oauth_creds.json"), "{}");
  writeFileSync(join(own, ".env"), "GEMINI_MODEL=mine\nGOOGLE_CLOUD_PROJECT=project\n");
  await scene.backend({}, { apiKey: undefined }).ask(question());
  const [record] = scene.ledger();
  expect(record?.home_listing).toEqual([".env", "oauth_creds.json", "settings.json"]);
  expect(record?.settings).toMatchObject({ security: { auth: { selectedType: "oauth-personal" } } });
  expect(record?.settings).not.toHaveProperty("mcpServers");
  expect(record?.env_names).toContain("GOOGLE_CLOUD_PROJECT");
  expect(record?.env_names).not.toContain("GEMINI_MODEL");
  expect(readdirSync(own).toSorted()).toEqual([".env", "oauth_creds.json", "settings.json"]);
});

test("a home that cannot be created is an error of ours, not a stack trace (B5)", async () => {
  writeFileSync(join(scene.folder, "home"), "a file is in the way");
  await expect(scene.backend({}).ask(question())).rejects.toMatchObject({
    code: "PERMISSION_DENIED",
    reason: "config",
  });
});

test("a symbolic link to the CLI, as npm creates it, is the CLI", async () => {
  mkdirSync(join(scene.folder, "linked"));
  symlinkSync(join(scene.folder, "bin", "gemini"), join(scene.folder, "linked", "gemini"));
  await expect(
    scene.backend({}, { environment: { PATH: join(scene.folder, "linked") } }).ask(question()),
  ).resolves.toMatchObject({
    backend: "cli",
  });
});

/** How version 0.61 finds files to insert into a prompt. */
const AT_COMMAND = /(?<!\\)@(?:(?:"(?:[^"]*)")|(?:\\.|[^ \t\n\r,;!?()[\]{}.]|\.(?!$|[ \t\n\r])))+/;

const request = (prompt: string, model?: string) => ({
  prompt,
  model,
  purpose: "research" as const,
  signal: new AbortController().signal,
  onActivity: () => {},
});

test.each([
  ["bob@secret.txt", "bob\\@secret.txt"],
  ["already \\@ escaped", "already \\@ escaped"],
  ["\\\\@x", "\\\\@x"],
  ['@"a b" @@', '\\@"a b" \\@\\@'],
  ["no sign", "no sign"],
])("%s becomes %s (G9)", (prompt, escaped) => {
  expect(escapePrompt(prompt)).toBe(escaped);
});

test("the CLI finds no file to read and no command to run in any escaped text (T3)", () => {
  const piece = fc.oneof(
    fc.constantFrom("@", "\\", "/", '"', " ", "\n", "a.txt", ".", "\u2028"),
    fc.string({ unit: "binary" }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const escaped = escapePrompt(pieces.join(""));
      expect(AT_COMMAND.test(escaped)).toBe(false);
      expect(escaped.trim().startsWith("/")).toBe(false);
    }),
    { numRuns: 10_000 },
  );
});

test("only the @ sign is changed (G9)", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      fc.pre(!text.includes("@") && !text.trimStart().startsWith("/"));
      expect(escapePrompt(text)).toBe(text);
    }),
  );
});

test.each(["gemini-3.8-flash", "flash", "models/gemini-3.8-flash", "publishers/google/models/x:1"])(
  "%s is a valid model name (T2)",
  (model) => {
    expect(() => assertUsable(request("question", model), 0)).not.toThrow();
  },
);

test.each(["--yolo", "-m", "", "a b", "../x", "a//b", "a\nb", "a;b", "x".repeat(200), "gemini\0"])(
  "%j is no valid model name (T2)",
  (model) => {
    expect(() => assertUsable(request("question", model), 0)).toThrow(
      expect.objectContaining({ code: "EXECUTION_ERROR", reason: "config", retryable: false }),
    );
  },
);

test("a prompt that the CLI would cut is refused, and one that just fits is not (T8)", () => {
  const limit = 8 * 1024 * 1024;
  expect(() => assertUsable(request("x".repeat(limit)), 0)).not.toThrow();
  expect(() => assertUsable(request("x".repeat(limit + 1)), 0)).toThrow(expect.objectContaining({ reason: "input" }));
  // Escaping makes it longer.
  expect(() => assertUsable(request("@".repeat(limit / 2 + 1)), 0)).toThrow(
    expect.objectContaining({ reason: "input" }),
  );
});

test("a server that runs below another one starts no CLI (T5)", () => {
  expect(() => assertUsable(request("question"), 1)).toThrow(expect.objectContaining({ reason: "config" }));
});
