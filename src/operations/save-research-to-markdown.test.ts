import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, win32 } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { openRunner } from "../../test/kit/store/runner.ts";
import { isInside } from "../reports/files/allowed-root.ts";
import { finishRun, insertRunning } from "../runs/run-store.ts";
import type { Call, OperationDeps } from "./operation.ts";
import { perform } from "./perform.ts";
import { saveResearchToMarkdown } from "./save-research-to-markdown.ts";

const TASK_ID = "11111111-2222-4333-8444-555555555555";

interface World {
  /** The directory that the server's owner configured, and one beside it that must not be written to. */
  root: string;
  outside: string;
  save(
    input: Record<string, unknown>,
    more?: { from?: Call["from"]; reportsDir?: string | undefined },
  ): Promise<{ failed: boolean; structured: Record<string, unknown>; text: string }>;
}

async function openWorld(context: TestContext): Promise<World> {
  const { store, deps } = await openRunner(context);
  const run = { taskId: TASK_ID, owner: "local", kind: "search" as const, query: "How deep is the lake?", options: {} };
  await insertRunning(store.db, { ...run, client: undefined, processId: store.processId, now: 1 });
  await finishRun(store.db, {
    taskId: TASK_ID,
    processId: store.processId,
    to: "completed",
    result: { report: "# Deep", sources: [], metadata: {}, partial: false },
    error: undefined,
    backend: "api",
    model: "m",
    tokens: { input: 1, output: 1 },
    cost: { usd: 0, incomplete: false, estimated: false },
    usageFinal: true,
    now: 2,
  });
  const base = realpathSync(mkdtempSync(join(tmpdir(), "gemini-search-save-")));
  context.onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [root, outside] = [join(base, "reports"), join(base, "reports-evil")];
  mkdirSync(root);
  mkdirSync(outside);
  return {
    root,
    outside,
    save: (input, { from = "network", ...more } = {}) => {
      const reportsDir = "reportsDir" in more ? more.reportsDir : root;
      const { clock, log } = deps();
      const settings = { maxRounds: 5, legacyPrompt: undefined, syncWindowMs: 0, reportsDir };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that this operation asks for
      const given = { clock, log, settings, database: async () => store.db } as unknown as OperationDeps;
      const signal = new AbortController().signal;
      const call: Call = { owner: "local", client: undefined, from, signal, progress: () => {} };
      return perform(saveResearchToMarkdown, given, { input: { task_id: TASK_ID, ...input }, call });
    },
  };
}

const denied = { failed: true, structured: { success: false, error: { code: "PERMISSION_DENIED" } } };

test("over the network a report is saved in the configured directory, by default and in a named folder below it (N2)", async (context) => {
  const { root, save } = await openWorld(context);
  for (const [output_dir, place] of [
    [undefined, root],
    ["team/a", join(root, "team/a")],
    ["./research_reports", join(root, "research_reports")],
    ["a/../b", join(root, "b")],
    ["..\\c", join(root, "..\\c")],
    [join(root, "absolute"), join(root, "absolute")],
  ] as const) {
    const { failed, structured } = await save(output_dir === undefined ? {} : { output_dir });
    expect({ failed, structured }).toMatchObject({ failed: false, structured: { success: true } });
    expect(String(structured["file_path"]).startsWith(`${place}/`)).toBe(true);
  }
});

test("over the network no path, link or home directory leads out of it, and nothing is created outside (N2)", async (context) => {
  const { root, outside, save } = await openWorld(context);
  symlinkSync(outside, join(root, "link"));
  symlinkSync(join(outside, "nowhere"), join(root, "dangling"));
  symlinkSync("/", join(root, "slash"));
  const home = `~/gemini-search-${TASK_ID}`;
  const ways = [
    "..",
    "../reports-evil",
    "a/../../reports-evil",
    outside,
    "/",
    "/tmp",
    home,
    "~",
    "link",
    "link/deeper",
  ];
  for (const output_dir of [...ways, "dangling", "slash/tmp", `${root}/../reports-evil`, `${root}-evil`]) {
    expect({ output_dir, ...(await save({ output_dir })) }).toMatchObject(denied);
  }
  expect(existsSync(home.replace("~", homedir()))).toBe(false);
  expect(readdirSync(outside)).toEqual([]);
});

test("over the network nothing is saved without a configured directory; locally anywhere (N2)", async (context) => {
  const { outside, save } = await openWorld(context);
  const refused = await save({ output_dir: outside }, { reportsDir: undefined });
  expect(refused).toMatchObject(denied);
  expect(refused.text).toContain("RESEARCH_REPORTS_DIR");
  const saved = await save({ output_dir: outside }, { from: "here", reportsDir: undefined });
  expect(saved).toMatchObject({ failed: false, structured: { success: true } });
});

test("on Windows another drive, a share and a longer name are outside (N2)", () => {
  const root = "C:\\reports";
  expect(isInside(root, "C:\\reports\\2026-11", win32)).toBe(true);
  expect(isInside(root, "c:\\REPORTS\\x", win32)).toBe(true);
  for (const target of ["D:\\reports\\x", "C:\\reports-evil", "C:\\", "\\\\server\\share\\x", "C:\\other"]) {
    expect(isInside(root, target, win32)).toBe(false);
  }
});
