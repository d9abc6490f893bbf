/** Checks promises after kills: compares Google's ledger, the database, the files and the processes. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { readInteraction } from "../../../src/gemini/interactions/reader.ts";
import { renderMarkdown } from "../../../src/reports/markdown/markdown.ts";
import type { Source } from "../../../src/reports/report.ts";
import { processesNaming } from "../server/processes.ts";
import { type JudgedAttempt, judgeMoney, type PaidStart } from "./money.ts";
import { googleHas, subjectOfStart } from "./recorded-calls.ts";
import { shownOf, type ShowingRun } from "./shown.ts";
import type { KillWorld } from "../kills/world.ts";

export interface Verdict {
  /** One sentence for each broken promise. */
  broken: string[];
  counts: Record<string, number>;
}

interface StoredRun extends ShowingRun {
  part: string;
  enable_notifications: number;
  completed_at: number | null;
  schedule_id: string | null;
}

interface StoredResult {
  task_id: string;
  report_markdown: string;
  sources_json: string;
  raw: Uint8Array | null;
  partial: number;
}

interface StoredEntry {
  entry_id: string;
  state: string;
  micros: number;
  reserved_micros: number;
}

interface StoredNotice {
  task_id: string | null;
  kind: string;
  sent_at: number | null;
  claimed_at: number | null;
  claimed_by: string | null;
}

/** The rows of either database. */
export interface Stored {
  runs: StoredRun[];
  attempts: JudgedAttempt[];
  ledger: StoredEntry[];
  results: StoredResult[];
  searchable: { task_id: string }[];
  notices: StoredNotice[];
}

export const STORED: Record<keyof Stored, string> = {
  runs: "select * from research_tasks where kind = 'agent'",
  attempts: "select * from research_attempts",
  ledger: "select entry_id, state, micros, reserved_micros from ledger",
  results: "select * from research_results",
  searchable: "select task_id from research_search",
  notices: "select * from notification_outbox",
};

/** What clients received, and the records of Google and the notifier. */
export type Records = Pick<KillWorld, "gemini" | "returned" | "accepted" | "user" | "notified">;

export function judge(world: KillWorld): Verdict {
  const stored: Stored = {
    runs: world.query(STORED.runs),
    attempts: world.query(STORED.attempts),
    ledger: world.query(STORED.ledger),
    results: world.query(STORED.results),
    searchable: world.query(STORED.searchable),
    notices: world.query(STORED.notices),
  };
  const { broken, counts } = judgeStored(world, stored);
  const files = judgeFiles(world, stored.runs, stored.results);
  const paused = world.kills.get("paused") ?? 0;
  const kills = [...world.kills.values()].reduce((sum, some) => sum + some, 0) - paused;
  return {
    broken: [...broken, ...files.broken, ...judgeBudget(world), ...judgeLeftovers(world)],
    counts: { kills, paused, ...counts, refused: world.refused, ...repertoireOf(stored.runs), files: files.whole },
  };
}

/** That no kind of start is missing is seen in the counts. */
const repertoireOf = (runs: StoredRun[]): Record<string, number> => ({
  followups: runs.filter(({ part }) => part === "followup").length,
  tables: runs.filter(({ part }) => part === "table").length,
  scheduled: runs.filter(({ schedule_id }) => schedule_id !== null).length,
});

/** Each process has checked its own hard budget, none of which is above the highest. */
function judgeBudget({ hardUsd, query }: KillWorld): string[] {
  const [row] = query<{ micros: number }>("select coalesce(sum(micros), 0) as micros from ledger");
  const used = (row?.micros ?? 0) / 1_000_000;
  return hardUsd > 0 && used > hardUsd ? [`The starts used ${used} dollars of a hard budget of ${hardUsd}.`] : [];
}

/** Money, ends and notifications. */
export function judgeStored(world: Records, stored: Stored): Verdict {
  const { runs, attempts } = stored;
  const starts = startsOf(world, stored);
  const { returned, user } = world;
  const { decisions, resumes, cancels } = user;
  const shown = shownOf({ runs, reports: reportsOf(stored) });
  const money = judgeMoney({ starts, runs, attempts, shown, returned, decisions, resumes, cancels });
  const ends = judgeEnds(world, stored);
  const notices = judgeNotifications(world, stored);
  const byStatus = Object.groupBy(runs, ({ status }) => status);
  return {
    broken: [...money, ...judgeLedger(starts, stored), ...ends, ...notices.broken],
    counts: {
      paid_starts: starts.length,
      runs: runs.length,
      ...Object.fromEntries(Object.entries(byStatus).map(([status, those]) => [status, those?.length ?? 0])),
      resumed: resumes.length,
      approved: starts.filter(({ subject }) => subject.startsWith("plan ")).length,
      cancels: cancels.filter(({ seen }) => seen.some(({ status }) => status === "working")).length,
      notified: notices.shown,
      notifications_lost: notices.lost,
    },
  };
}

/** What Google may charge is counted: at its most until the usage is known. */
function judgeLedger(starts: PaidStart[], { ledger }: Stored): string[] {
  const entries = new Map(ledger.map((entry) => [entry.entry_id, entry]));
  return starts.flatMap(({ id, attempt }) => {
    const entry = entries.get(attempt);
    const isCounted =
      entry?.state === "settled" || (entry?.state === "reserved" && entry.micros >= entry.reserved_micros);
    return isCounted ? [] : [`Interaction ${id} is ${entry?.state ?? "missing"} in the ledger.`];
  });
}

/** Deleted, or expired. */
const MISSING = { status: "missing", report: "" };

function startsOf({ gemini }: Records, { runs, attempts }: Stored): PaidStart[] {
  const questionOf = new Map(runs.map(({ task_id, query }) => [task_id, query]));
  const stored = new Set(attempts.map(({ interaction_id }) => interaction_id));
  return gemini.ledger.acceptedStarts().map((start) => {
    const { id, labels } = start;
    const { status, report } = googleHas(gemini, id) ?? MISSING;
    return {
      id,
      attempt: labels["attempt"] ?? "",
      run: labels["run"] ?? "",
      subject: subjectOfStart(start, questionOf.get(labels["run"] ?? "")),
      status,
      text: status === "working" ? "" : report,
      isKnown: stored.has(id),
      isCancelled: gemini.ledger.trafficOf(id).cancels.length > 0,
    };
  });
}

/** Google's answer as it was kept: the report of a table is made of it. */
const keptAnswer = ({ raw }: StoredResult) =>
  raw === null ? undefined : readInteraction(JSON.parse(inflateRawSync(raw).toString()));

const reportsOf = ({ results }: Stored): Map<string, string> =>
  new Map(results.map((result) => [result.task_id, keptAnswer(result)?.report ?? result.report_markdown]));

const ENDS = ["completed", "failed", "cancelled", "start_unknown"];

/**
 * Every run has ended with the status that Google reports, unless the user cancelled it and it failed there before it read
 * that, and completed runs have their whole report.
 */
function judgeEnds({ gemini, accepted }: Records, { runs, results, searchable }: Stored): string[] {
  const broken: string[] = [];
  const resultOf = new Map(results.map((result) => [result.task_id, result]));
  const indexed = Map.groupBy(searchable, ({ task_id }) => task_id);
  for (const run of runs) {
    const { task_id, status, interaction_id } = run;
    const start = gemini.ledger.acceptedStarts().find(({ id }) => id === interaction_id);
    const google = interaction_id === null ? undefined : googleHas(gemini, interaction_id);
    // A complete plan waits for the user, who may have cancelled it instead.
    const isPlan = start?.plan?.isApproved === false && google?.status === "completed";
    if (isPlan && status === "cancelled") continue;
    if (!ENDS.includes(status)) broken.push(`Run ${task_id} is still ${status}.`);
    if (status === "start_unknown" && start === undefined && accepted.has(task_id)) {
      broken.push(`Run ${task_id} was returned as accepted and is an unknown start.`);
    }
    if (interaction_id === null) {
      if (status === "completed") broken.push(`Run ${task_id} is completed and never had an id.`);
      continue;
    }
    const failedBefore =
      status === "cancelled" &&
      google?.status === "failed" &&
      gemini.ledger.trafficOf(interaction_id).cancels.length > 0;
    if (google?.status !== status && !failedBefore)
      broken.push(`Run ${task_id} is ${status}, but ${google?.status} at Google.`);
    const result = resultOf.get(task_id);
    if (status !== "completed") continue;
    const kept = result && keptAnswer(result);
    // The report of a table is made of Google's answer, which is kept beside it.
    const hasText =
      start?.structured === true
        ? result?.report_markdown.startsWith("| ") === true
        : result?.report_markdown === google?.report;
    const whole = result?.partial === 0 && hasText && kept?.report === google?.report;
    if (!whole) broken.push(`Run ${task_id} is completed without its whole report.`);
    if (!isPlan && indexed.get(task_id)?.length !== 1) broken.push(`Run ${task_id} is completed and cannot be found.`);
  }
  return broken;
}

/** Each end is announced at most once; what is marked as sent was shown. */
function judgeNotifications(world: Records, { runs, notices }: Stored) {
  const broken: string[] = [];
  const [rows, lines] = [notices.filter(isOfRun), world.notified().filter((line) => !line.startsWith(OF_BUDGET))];
  const ofBudgets = world.notified().length - lines.length;
  if (ofBudgets > notices.length - rows.length) broken.push(`${ofBudgets} notifications of budgets were shown.`);
  let lost = 0;
  for (const row of rows) {
    // Of an occurrence that did not start: there is no end of a run.
    if (row.task_id === null) continue;
    const { task_id, sent_at, claimed_at } = row;
    const shown = timesShown(lines, row);
    if (shown > 1) broken.push(`The end of run ${task_id} was announced ${shown} times.`);
    if (shown === 0 && sent_at !== null) broken.push(`The end of run ${task_id} is marked as announced, and was not.`);
    if (claimed_at === null) broken.push(`The end of run ${task_id} was never announced.`);
    if (shown === 0) lost += 1;
  }
  const announced = new Set(rows.map(({ task_id, kind }) => `${task_id} ${kind}`));
  for (const { task_id, part, status, enable_notifications, interaction_id } of runs) {
    if (interaction_id === null || enable_notifications === 0 || (status !== "completed" && status !== "failed"))
      continue;
    const isPlan = part === "plan";
    // A change of a plan that fails leaves the plan before it.
    if (isPlan && status === "failed") continue;
    // The run of a schedule, by what changed since the one before it.
    if (status === "completed" && announced.has(`${task_id} changed`)) continue;
    if (!announced.has(`${task_id} ${isPlan ? "plan" : status}`))
      broken.push(`Run ${task_id} is ${status} without a notification.`);
  }
  if (lines.length > rows.length) broken.push(`${lines.length} notifications were shown for ${rows.length} ends.`);
  return { broken, shown: lines.length, lost };
}

/** The notification of a budget names no run. */
const OF_BUDGET = "Research Budget | ";
const isOfRun = ({ kind }: StoredNotice): boolean => kind !== "budget";

const timesShown = (lines: string[], { kind, task_id }: StoredNotice): number =>
  lines.filter((line) => {
    // Of the search of a schedule.
    const title = TITLES[kind]?.replace("Deep Research", "Search") ?? "";
    return [TITLES[kind], title].some((one) => line.startsWith(`${one ?? ""} | ${task_id?.slice(0, 8)}`));
  }).length;

const TITLES: Partial<Record<string, string>> = {
  plan: "Research Plan Ready",
  changed: "What Changed",
  completed: "Deep Research Complete",
  failed: "Deep Research Failed",
};

/** Only a kill between the claim of a notification and its display loses it. For a world that `killAll` prepared. */
export function judgeLostNotifications(world: KillWorld): string[] {
  const lines = world.notified();
  const notices = world.query<StoredNotice>(STORED.notices);
  const started = world.query<{ process_id: string; pid: number }>("select * from started_processes");
  const pidOf = new Map(started.map(({ process_id, pid }) => [process_id, pid]));
  return notices
    .filter(isOfRun)
    .filter((notice) => timesShown(lines, notice) === 0)
    .filter(({ claimed_by }) => !world.killed.has(pidOf.get(claimed_by ?? "") ?? 0))
    .map(({ task_id }) => `The end of run ${task_id} was not announced, although no process was killed meanwhile.`);
}

/** Every saved report is whole: exactly what is rendered from the database. */
function judgeFiles(world: KillWorld, runs: StoredRun[], results: StoredResult[]) {
  const runOf = new Map(runs.map((run) => [run.task_id, run]));
  const expected = new Set(
    results.map(({ task_id, report_markdown, sources_json }) =>
      renderMarkdown({
        query: runOf.get(task_id)?.query ?? "",
        report: report_markdown,
        sources: JSON.parse(sources_json) as Source[],
        partial: undefined,
        endedAt: runOf.get(task_id)?.completed_at ?? undefined,
        metadata: undefined,
        includeSources: true,
      }),
    ),
  );
  const files = readdirSync(world.reportsDir, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".md"),
  );
  const torn = files.filter((name) => !expected.has(readFileSync(join(world.reportsDir, name), "utf8")));
  return { broken: torn.map((name) => `The file ${name} is torn.`), whole: files.length - torn.length };
}

/** No lease, slot, process or file is left, and the database is intact. */
function judgeLeftovers(world: KillWorld): string[] {
  const counts = {
    leases: "select task_id from research_tasks where lease_until is not null",
    polls: "select task_id from research_tasks where next_poll_at is not null",
    slots: "select lease_id from leases where process_id <> ''",
    processes: "select process_id from processes",
    "broken references": "pragma foreign_key_check",
  };
  const left = Object.entries(counts).map(([name, sql]) => [name, world.query(sql).length] as const);
  const files = readdirSync(world.configDir).filter((name) => /\.tmp$|^orphans|^temp-/.test(name));
  const [integrity] = world.query<{ integrity_check: string }>("pragma integrity_check");
  return [
    ...left.filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name} are left.`),
    ...files.map((name) => `The file ${name} is left.`),
    ...processesNaming(world.configDir).map((pid) => `Process ${pid} is left.`),
    ...(integrity?.integrity_check === "ok" ? [] : [`The database is damaged: ${integrity?.integrity_check}`]),
  ];
}
