/** Settings: precedence, invalid values, directories, and the cleanup of temporary files. */

import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, type TestContext } from "vitest";
import { keyFingerprint } from "../../simulator/ledger.ts";
import { openScene, type Scene } from "../kit/server/scene.ts";
import { temporaryDirectory, TEST_KEY } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const QUERY = "How do heat pumps perform in cold climates?";
const SOON = { interval: 10 };
const DEFAULT_MODEL = "gemini-3.8-flash";

const writeConfig = (scene: Scene, content: string | Buffer | Record<string, unknown>): void =>
  writeFileSync(
    join(scene.configDir, "config.json"),
    typeof content === "string" || Buffer.isBuffer(content) ? content : JSON.stringify(content),
  );

/** Which model each kind of request was sent to. */
const modelsAsked = (scene: Scene): Record<string, string | undefined> =>
  Object.fromEntries(scene.gemini.ledger.entries().map(({ kind, model }) => [kind, model]));

function ownDirectory({ onTestFinished }: TestContext): string {
  const directory = temporaryDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

describe("layers", () => {
  test("flags override the environment, which overrides config.json, which overrides defaults (B1)", async (context) => {
    const scene = await openScene(context);
    const asked = async (args: string[], env: Record<string, string>): Promise<string | undefined> => {
      scene.gemini.ledger.clear();
      expect((await scene.command(["search", QUERY, ...args], { env })).code).toBe(0);
      return modelsAsked(scene)["search"];
    };
    expect(await asked([], {})).toBe(DEFAULT_MODEL);
    writeConfig(scene, { GEMINI_MODEL: "from-file", JSON_MAX_RETRIES: 2 });
    expect(await asked([], {})).toBe("from-file");
    expect(await asked([], { GEMINI_MODEL: "from-environment" })).toBe("from-environment");
    expect(await asked(["--model", "from-flag"], { GEMINI_MODEL: "from-environment" })).toBe("from-flag");
    // Empty, as a client's template leaves it: counts as not set.
    expect(await asked([], { GEMINI_MODEL: "" })).toBe("from-file");
  });

  test("an alias in the environment overrides the name itself in config.json (B1, B2)", async (context) => {
    const scene = await openScene(context, "bad-json");
    writeConfig(scene, { GEMINI_CORRECTION_MODEL: "from-file" });
    await scene.command(["search", QUERY], { env: { SECONDARY_GEMINI_MODEL: "from-alias" } });
    expect(modelsAsked(scene)["correct_json"]).toBe("from-alias");
  });

  test("a bad value is named in a warning with the default that is used (B1)", async (context) => {
    const scene = await openScene(context, "never-verified");
    writeConfig(scene, { PROGRESS_LOG_INTERVAL: "often", NO_SUCH_SETTING: 1 });
    const server = await scene.server({
      env: {
        JSON_MAX_RETRIES: "99",
        DEEP_SEARCH_MAX_ITERATIONS: "many",
        GEMINI_SEARCH_TIMEOUT: "-1",
        DEBUG: "perhaps",
      },
    });
    const { structured } = await server.call("deep_search", { query: QUERY });
    expect(structured["metadata"].iterations).toBe(5);
    for (const [name, value] of Object.entries({
      JSON_MAX_RETRIES: 3,
      DEEP_SEARCH_MAX_ITERATIONS: 5,
      GEMINI_SEARCH_TIMEOUT: 300_000,
      PROGRESS_LOG_INTERVAL: 30_000,
      DEBUG: false,
    })) {
      expect(server.stderr()).toContain(
        `[WARN] ${name} has an invalid value; the default (${value}) is used instead. (`,
      );
    }
    expect(server.stderr()).toMatch(/^\[WARN\] .*config\.json: NO_SUCH_SETTING is not a setting/m);
  });

  test("a config.json that cannot be parsed is named in a warning and ignored (B1)", async (context) => {
    const scene = await openScene(context);
    writeConfig(scene, '{ "GEMINI_MODEL": "from-file", ');
    const { code, stderr } = await scene.command(["search", QUERY]);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^\[WARN\] .*config\.json cannot be read: it is not a JSON object\. None of its settings is used/m,
    );
    expect(modelsAsked(scene)["search"]).toBe(DEFAULT_MODEL);
  });

  test.for([
    ["UTF-8", "utf8"],
    ["UTF-16", "utf16le"],
  ] as const)(
    "a config.json in %s with a byte-order mark is read, its spending limit included (B1)",
    async ([, encoding], context) => {
      const scene = await openScene(context);
      const content = { RESEARCH_CONFIRM_ABOVE_USD: 1, GEMINI_MODEL: "from-file" };
      writeConfig(scene, Buffer.from(`\uFEFF${JSON.stringify(content)}`, encoding));
      const server = await scene.server();
      expect((await server.call("start_deep_research", { query: QUERY })).structured["error"]).toMatchObject({
        code: "CONFIRMATION_NEEDED",
        details: { limit_usd: 1 },
      });
      await server.call("search", { query: QUERY });
      expect(modelsAsked(scene)).toEqual({ search: "from-file" });
      expect(server.stderr()).not.toContain("[WARN]");
    },
  );

  test("a bad flag is an error that names it (B1)", async (context) => {
    const scene = await openScene(context);
    for (const args of [["--backend", "nope"], ["--model", ""], ["--no-such-flag"]]) {
      const { code, stdout, stderr } = await scene.command(["search", QUERY, ...args]);
      expect(code).toBe(2);
      expect(stdout).toBe("");
      expect(stderr).toContain(args[0]);
    }
    expect(scene.gemini.ledger.count()).toBe(0);
  });
});

describe.concurrent("models and keys", () => {
  test.for([
    [{ GEMINI_MODEL: "main-only" }, { search: "main-only", correct_json: DEFAULT_MODEL }],
    [{ GEMINI_CORRECTION_MODEL: "second" }, { search: DEFAULT_MODEL, correct_json: "second" }],
    [{ SECONDARY_GEMINI_MODEL: "second" }, { search: DEFAULT_MODEL, correct_json: "second" }],
    [
      { GEMINI_MODEL: "main", GEMINI_CORRECTION_MODEL: "second" },
      { search: "main", correct_json: "second" },
    ],
  ] as const)("neither model is used in place of the other: %j (B2, E8)", async ([env, models], context) => {
    const scene = await openScene(context, "bad-json");
    const { structured } = await (await scene.server({ env })).call("search", { query: QUERY });
    expect(modelsAsked(scene)).toEqual(models);
    expect(structured["metadata"].model).toBe(models.search);
  });

  test.for(["YOUR_API_KEY_HERE", "", "  "])("the key %j counts as missing (B7)", async (key, context) => {
    const scene = await openScene(context);
    const server = await scene.server({ env: { GEMINI_API_KEY: key } });
    const { structured } = await server.call("search", { query: QUERY });
    expect(structured["error"]).toMatchObject({
      code: "GEMINI_UNAVAILABLE",
      message: "No Gemini API key is set.",
      suggestion: expect.stringContaining("GEMINI_API_KEY"),
    });
    expect(scene.gemini.ledger.count()).toBe(0);
  });

  test.for([
    [{ GEMINI_API_KEY: "", GOOGLE_API_KEY: "the-other-name" }, "the-other-name"],
    [{ GEMINI_API_KEY: "YOUR_API_KEY_HERE", GOOGLE_API_KEY: "the-other-name" }, "the-other-name"],
    [{ GOOGLE_API_KEY: "the-other-name" }, TEST_KEY],
  ] as const)("which of two names holds the key: %j (B7)", async ([env, key], context) => {
    const scene = await openScene(context);
    await (await scene.server({ env })).call("search", { query: QUERY });
    expect(scene.gemini.ledger.entries()).toMatchObject([{ key: keyFingerprint(key) }]);
  });

  test("auto uses the API where there is a key and no CLI (B11)", async (context) => {
    const scene = await openScene(context);
    const server = await scene.server({ env: { SEARCH_BACKEND: "auto", PATH: ownDirectory(context) } });
    expect((await server.call("search", { query: QUERY })).structured["success"]).toBe(true);
    expect(scene.gemini.ledger.countByKind()).toEqual({ search: 1 });
  });

  test("the user's prompts replace ours one by one, and are filled in literally (B9, G9)", async (context) => {
    const scene = await openScene(context, "bad-json");
    const prompts = ownDirectory(context);
    const own = "# Task: search\n\n-----BEGIN QUESTION-----\nIn verse, please: {{query}}\n-----END QUESTION-----\n";
    writeFileSync(join(prompts, "search-prompt.md"), own);
    const server = await scene.server({ env: { GEMINI_SEARCH_TEMPLATES_DIR: prompts } });
    const query = "What do $& and {{example}} and {{fence}} mean?";
    expect((await server.call("search", { query })).structured["success"]).toBe(true);
    expect(scene.gemini.ledger.entries()).toMatchObject([
      { kind: "search", question: `In verse, please: ${query}` },
      { kind: "correct_json" },
    ]);
  });

  test("a long call is logged at the configured interval (B4)", async (context) => {
    const scene = await openScene(context, { name: "slow", latency_ms: 450 });
    const server = await scene.server({ env: { PROGRESS_LOG_INTERVAL: "100" } });
    await server.call("search", { query: QUERY });
    expect(server.stderr().match(/^\[INFO\] Gemini API call has been running for \d+ s \(/gm)?.length).toBeGreaterThan(
      2,
    );
  });
});

describe.concurrent("directories", () => {
  test("the config directory is created private, and the database is in it (B5, B6)", async (context) => {
    const scene = await openScene(context);
    const [parent, cwd] = [ownDirectory(context), ownDirectory(context)];
    const configDir = join(parent, "not", "yet");
    const env = { GEMINI_SEARCH_CONFIG_DIR: configDir };
    expect((await scene.command(["search", QUERY], { env, cwd })).code).toBe(0);
    expect(statSync(configDir).mode & 0o777).toBe(0o700);
    expect(statSync(join(configDir, "deep_research.db")).mode & 0o777).toBe(0o600);
    const other = { ...env, DEEP_RESEARCH_DB: "elsewhere.db" };
    expect((await scene.command(["search", QUERY], { env: other, cwd })).code).toBe(0);
    expect(existsSync(join(configDir, "elsewhere.db"))).toBe(true);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test("without a writable config directory searches work with a warning, and leave no file (B5)", async (context) => {
    const scene = await openScene(context, "bad-json");
    const temporary = ownDirectory(context);
    // Not even root can create a directory below a file.
    const blocked = join(scene.configDir, "a-file", "config");
    writeFileSync(join(scene.configDir, "a-file"), "");
    const env = { GEMINI_SEARCH_CONFIG_DIR: blocked, TMPDIR: temporary };
    const server = await scene.server({ env });
    const { structured } = await server.call("search", { query: QUERY });
    expect(structured["success"]).toBe(true);
    expect(scene.gemini.ledger.countByKind()).toEqual({ search: 1, correct_json: 1 });
    expect(server.stderr()).toContain(`[WARN] The config directory ${blocked} cannot be created or written.`);
    const stored = await server.call("get_research_results", { task_id: structured["metadata"].task_id });
    expect(stored.structured["success"]).toBe(true);
    expect(readdirSync(temporary)).toHaveLength(1);
    await server.close();
    expect(readdirSync(temporary)).toEqual([]);

    const { code } = await scene.command(["search", QUERY], { env });
    expect(code).toBe(0);
    expect(readdirSync(temporary)).toEqual([]);
  });
});

test.skipIf(process.platform !== "linux")(
  "a config directory below /proc, where none can be created, is reported as not writable (B5)",
  async (context) => {
    const scene = await openScene(context);
    const env = { GEMINI_SEARCH_CONFIG_DIR: "/proc/none/config" };
    const { code, stderr } = await scene.command(["search", QUERY], { env });
    expect(code).toBe(0);
    expect(stderr).toContain("[WARN] The config directory /proc/none/config cannot be created or written.");
  },
);

const correctionFiles = (scene: Scene): string[] =>
  readdirSync(scene.configDir).filter((name) => name.startsWith("temp-invalid-output-"));

describe.concurrent("temporary files of an earlier process", () => {
  test("without a live owner are deleted and counted, even when there are none (E4)", async (context) => {
    const scene = await openScene(context);
    for (const name of ["temp-invalid-output-1.txt", `temp-invalid-output-${Date.now()}.txt`]) {
      writeFileSync(join(scene.configDir, name), "left behind");
    }
    writeFileSync(join(scene.configDir, "temp-invalid-output-by-hand.txt"), "whoever wrote it");
    mkdirSync(join(scene.configDir, "reports"));
    const first = await scene.server();
    await waitFor(() => expect(first.stderr()).toContain("[INFO] Cleaned up 3 orphaned temporary files."), SOON);
    expect(correctionFiles(scene)).toEqual([]);
    const second = await scene.server();
    await waitFor(() => expect(second.stderr()).toContain("[INFO] Cleaned up 0 orphaned temporary files."), SOON);
    expect(existsSync(join(scene.configDir, "reports"))).toBe(true);
  });

  test("of a live process stay, and are deleted once that process is dead (E4)", async (context) => {
    const hang = [{ fault: "hang" as const }];
    const scene = await openScene(context, {
      name: "stuck-in-correction",
      tasks: { search: [{ answer: "prose" }], correct_json: hang },
    });
    const holder = await scene.server();
    const call = holder.call("search", { query: QUERY }).catch(() => undefined);
    await waitFor(() => expect(scene.gemini.ledger.count("correct_json")).toBe(1), SOON);
    // Its own cleanup must be over, or it would delete the files created below.
    await waitFor(() => expect(holder.stderr()).toContain("Cleaned up 0"), SOON);
    const [held] = correctionFiles(scene);
    expect(held).toMatch(/\d{13}\.txt$/);
    writeFileSync(join(scene.configDir, "temp-invalid-output-1.txt"), "left behind");

    const second = await scene.server();
    await waitFor(() => expect(second.stderr()).toContain("Cleaned up 1 orphaned temporary file."), SOON);
    expect(correctionFiles(scene)).toEqual([held]);

    process.kill(holder.pid, "SIGKILL");
    await call;
    const third = await scene.server();
    await waitFor(() => expect(third.stderr()).toContain("Cleaned up 1 orphaned temporary file."), SOON);
    expect(correctionFiles(scene)).toEqual([]);
  });
});
