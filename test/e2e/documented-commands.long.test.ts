/** Every command of README and docs/ that needs no browser, site or other program, typed as it stands there. */

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { documentedCommands, USER_DOCUMENTS } from "../kit/documents.ts";
import { openResearch, QUERY, type ResearchScene, SLOW } from "../kit/server/research.ts";
import { temporaryDirectory } from "../kit/server/server.ts";

/** Run by tests of their own: they stay, open a browser, ask at a terminal, fetch pages or need PostgreSQL. */
const ELSEWHERE = /^(?:serve|worker$|open|demo|migrate|check |webhook test|init$|init --(?!dry-run)|doctor$)/;
/** The id in the examples. */
const ID = "3f2a9c1e";
/** Of an earlier run of the same question. */
const EARLIER = "91d0b7aa";
/** The id of a webhook in the examples. */
const WEBHOOK = "whk_0c1d2e3f4a5b";
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

async function askedTwice(scene: ResearchScene): Promise<string> {
  await finished(scene);
  return startRun(scene, "--wait", "--force-new");
}

const firstRun = (scene: ResearchScene): string | undefined =>
  scene.sql<{ task_id: string }>("select task_id from research_tasks order by created_at limit 1")[0]?.task_id;

async function running(scene: ResearchScene): Promise<string> {
  scene.play(SLOW);
  return startRun(scene, "--no-wait");
}

async function named(scene: ResearchScene): Promise<string> {
  await scene.command(["token", "add", "anna"]);
  return ID;
}

async function scheduled(scene: ResearchScene): Promise<string> {
  const { stdout } = await scene.command(["schedule", QUERY, "--every", "week", "--budget", "60", "--yes", "--json"]);
  return JSON.parse(stdout).schedules[0].schedule_id;
}

async function paused(scene: ResearchScene): Promise<string> {
  const schedule = await scheduled(scene);
  await scene.command(["schedule", "pause", schedule]);
  return schedule;
}

async function notified(scene: ResearchScene): Promise<string> {
  const { stdout } = await scene.command(["webhook", "add", "https://example.com/research", "--json"]);
  return JSON.parse(stdout).webhook_id;
}

async function tagged(scene: ResearchScene): Promise<string> {
  const run = await finished(scene);
  await scene.command(["edit", run, "--tag", "heating"]);
  return run;
}

/** The archive of another installation has the name that the command gives it. */
async function exported(scene: ResearchScene, folder: string): Promise<string> {
  const run = await finished(scene);
  for (const name of ["heating.zip", "Research 2026-11-19.zip"])
    await scene.command(["export", "-o", name], { cwd: folder });
  return run;
}

type Preparation = (scene: ResearchScene, folder: string) => Promise<string>;

/** What has to be there for a command, where a finished run will not do; the first that fits. */
const PREPARATIONS: readonly [RegExp, Preparation][] = [
  [/^(?:plan|approve) /, planned],
  [/^retry .* --/, unconfirmed],
  [/^retry /, failed],
  [/^cancel /, running],
  [/^table /, tabulated],
  [/^save .*(?:csv|json)/, withTable],
  [/^changes\b/, askedTwice],
  [/^token revoke /, named],
  [/^schedule resume /, paused],
  [/^schedule (?:pause|change|end) /, scheduled],
  [/^webhook remove /, notified],
  [/^export /, tagged],
  [/^import .*zip/, exported],
  [new RegExp(`${ID}|^(?:show|save|watch)\\b`), finished],
];

/** What a script, which cannot be asked, adds. */
const TWICE = "--accept-possible-double-charge";
const YES: ReadonlySet<string> = new Set(["delete", "cancel", "approve", "table"]);
/** Of `schedule`, what no one is asked about. */
const UNASKED: ReadonlySet<string> = new Set(["list", "pause", "end"]);

const isAsked = ([command = "", action = ""]: readonly string[]): boolean =>
  YES.has(command) || (command === "schedule" && !UNASKED.has(action));

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
    for (const name of ["report.md", "notes.md"])
      writeFileSync(
        join(folder, name),
        `# ${name}\n\nPrices fell by 12 percent [1].\n\n[1]: https://prices.example/\n`,
      );
    const [, prepare] = PREPARATIONS.find(([pattern]) => pattern.test(args.join(" "))) ?? [];
    const run = await prepare?.(scene, folder);
    const interaction = scene.gemini.ledger.acceptedStarts()[0]?.id;
    const meant: Partial<Record<string, string>> = {
      [ID]: run,
      [WEBHOOK]: run,
      ...(args.includes(EARLIER) ? { [EARLIER]: firstRun(scene) } : {}),
      ...(interaction === undefined ? {} : { [INTERACTION]: interaction }),
    };
    const typed = args.map((word) => meant[word] ?? word);
    const { code, stderr } = await scene.command(
      (isAsked(args) || args.includes(TWICE)) && !typed.includes("--yes") ? [...typed, "--yes"] : typed,
      { cwd: folder, stdin: "how loud may heat pumps be" },
    );
    expect(code, stderr).toBe(0);
  });
});
