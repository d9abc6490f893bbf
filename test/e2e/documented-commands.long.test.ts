/** Every command of README and docs/ that needs no browser, site or other program, typed as it stands there. */

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { documentedCommands, USER_DOCUMENTS } from "../kit/documents.ts";
import { openResearch, QUERY, type ResearchScene, SLOW } from "../kit/server/research.ts";
import { temporaryDirectory } from "../kit/server/server.ts";

/** Run by tests of their own: they stay, open a browser, ask at a terminal, fetch pages or need PostgreSQL. */
const ELSEWHERE = /^(?:serve|worker$|open|demo|migrate|check |init$|init --(?!dry-run)|doctor$)/;
/** The id in the examples. */
const ID = "3f2a9c1e";
/** The id at Google in the examples. */
const INTERACTION = "v1_abc";

const AT_ONCE = { duration_ms: 0 };
const LOST = { ...AT_ONCE, create: [{ fault: "accept-then-reset" as const }, {}] };
const FAILED = { ...AT_ONCE, create: [{ life: { status: "failed" as const } }] };
const CELL = { value: "Nordic Heat", sources: [1] };

async function startRun(scene: ResearchScene, ...more: string[]): Promise<string> {
  const { stdout } = await scene.command(["research", QUERY, ...more, "--json"]);
  return JSON.parse(stdout).task_id;
}

const finished = (scene: ResearchScene): Promise<string> => startRun(scene, "--wait");

async function planned(scene: ResearchScene): Promise<string> {
  const run = await startRun(scene, "--plan", "--no-wait");
  await scene.command(["watch", run]);
  return run;
}

async function unconfirmed(scene: ResearchScene): Promise<string> {
  scene.play(LOST);
  return startRun(scene, "--no-wait");
}

async function failed(scene: ResearchScene): Promise<string> {
  scene.play(FAILED);
  return startRun(scene, "--wait");
}

/** A model that would answer with a table. */
async function tabulated(scene: ResearchScene): Promise<string> {
  const run = await finished(scene);
  scene.play({ ...AT_ONCE, answer: JSON.stringify({ rows: [{ c1: CELL, c2: CELL, c3: CELL }] }) });
  return run;
}

async function withTable(scene: ResearchScene): Promise<string> {
  const run = await tabulated(scene);
  await scene.command(["table", run, "Maker", "Price", "--yes"]);
  return run;
}

async function running(scene: ResearchScene): Promise<string> {
  scene.play(SLOW);
  return startRun(scene, "--no-wait");
}

async function named(scene: ResearchScene): Promise<string> {
  await scene.command(["token", "add", "anna"]);
  return ID;
}

type Preparation = (scene: ResearchScene) => Promise<string>;

/** What has to be there for a command, where a finished run will not do; the first that fits. */
const PREPARATIONS: readonly [RegExp, Preparation][] = [
  [/^(?:plan|approve) /, planned],
  [/^retry .* --/, unconfirmed],
  [/^retry /, failed],
  [/^cancel /, running],
  [/^table /, tabulated],
  [/^save .*(?:csv|json)/, withTable],
  [/^token revoke /, named],
  [new RegExp(`${ID}|^(?:show|save|watch)\\b`), finished],
];

/** What a script, which cannot be asked, adds. */
const TWICE = "--accept-possible-double-charge";
const YES: ReadonlySet<string> = new Set(["delete", "cancel", "approve", "table"]);

const lines = new Map(
  USER_DOCUMENTS.flatMap(documentedCommands).flatMap(({ line, words: [program, ...args] }) =>
    program === "gemini-search-mcp" && !ELSEWHERE.test(args.join(" ")) ? [[line, args] as const] : [],
  ),
);

describe.concurrent("typed in a shell", () => {
  test("there are enough of them", () => {
    expect(lines.size).toBeGreaterThan(60);
  });

  test.for([...lines])("%s", async ([, args], context) => {
    const scene = await openResearch(context, AT_ONCE);
    const folder = temporaryDirectory();
    context.onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, "offer.pdf"), "%PDF-1.4\n");
    const [, prepare] = PREPARATIONS.find(([pattern]) => pattern.test(args.join(" "))) ?? [];
    const run = await prepare?.(scene);
    const interaction = scene.gemini.ledger.acceptedStarts()[0]?.id;
    const typed = args.map((word) => (word === ID ? run : word === INTERACTION ? interaction : word) ?? word);
    const { code, stderr } = await scene.command(
      (YES.has(args[0] ?? "") || args.includes(TWICE)) && !typed.includes("--yes") ? [...typed, "--yes"] : typed,
      { cwd: folder, stdin: "how loud may heat pumps be" },
    );
    expect(code, stderr).toBe(0);
  });
});
