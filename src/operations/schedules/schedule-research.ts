/** `schedule_research`: has a question asked again every day, week or month, and lists, pauses, changes and ends such schedules. */

import { z } from "zod";
import { AppError } from "../../errors.ts";
import { dollars } from "../../costs/dollars.ts";
import { countOf } from "../../platform/count.ts";
import { currentAgent, DEFAULT_AGENT } from "../../gemini/research-agent.ts";
import type { Rule } from "../../runs/schedules/calendar.ts";
import type { Schedule, ScheduledOperation } from "../../runs/schedules/schedule.ts";
import type { ScheduleChange } from "../../runs/schedules/schedule-store.ts";
import { drawsPictures, materialOf } from "../../runs/start/start-options.ts";
import { isIdle, type Run } from "../../runs/run.ts";
import { estimateFor, maxRequestUsd, requireConsent } from "../parts/cost-confirmation.ts";
import {
  type Call,
  defineOperation,
  hashOfInput,
  type OperationDeps,
  type OutputOf,
  outputSchema,
  type Question,
  queryField,
  taskIdField,
} from "../operation.ts";
import { wishesIn } from "../question/wishes.ts";
import { DEPTHS, PERIODS, scheduleFields, scheduleLine, viewOf, whenText } from "./schedule-view.ts";

const NAME = "schedule_research";
const ACTIONS = ["create", "list", "pause", "resume", "change", "end"] as const;
const ON_ERROR = '{on} must be a weekday such as "monday" for a week, or a day of the month, 1 to 31 or "last".';
const AT_ERROR = "{at} must be a time of day such as 07:00.";
const UNTIL_ERROR = "{until} must be a date: YYYY-MM-DD.";
const ZONE_ERROR = "{time_zone} must be a name such as Europe/Berlin.";
const BUDGET_ERROR = "{budget_usd} must be an amount in US dollars, from 0.01 to 10,000.";

const choiceField = <const Choice extends string>(name: string, choices: readonly Choice[]) =>
  z.enum(choices, { error: `{${name}} must be ${choices.join(", ")}.` });

const inputSchema = z.strictObject({
  action: choiceField("action", ACTIONS).describe("create needs query or task_id, every and budget_usd."),
  schedule_id: z
    .string({ error: "{schedule_id} must be one that list returns." })
    .trim()
    .toLowerCase()
    .regex(/^[0-9a-f]{8}$/, { error: "{schedule_id} must be one that list returns." })
    .optional()
    .describe("For pause, resume, change, end."),
  query: queryField("query").optional(),
  task_id: taskIdField.optional().describe("create: the run to repeat, instead of query and depth."),
  depth: choiceField("depth", DEPTHS).optional().describe("Default: research, dollars per run."),
  every: choiceField("every", PERIODS).optional(),
  on: z
    .string({ error: ON_ERROR })
    .trim()
    .toLowerCase()
    .regex(/^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|[1-9]|[12]\d|3[01]|last)$/, { error: ON_ERROR })
    .optional()
    .describe("Weekday, or day of the month. Default: monday, 1."),
  at: z
    .string({ error: AT_ERROR })
    .trim()
    .regex(/^(?:[01]?\d|2[0-3]):[0-5]\d$/, { error: AT_ERROR })
    .transform((time) => time.padStart(5, "0"))
    .optional()
    .describe("Default: 07:00."),
  time_zone: z
    .string({ error: ZONE_ERROR })
    .trim()
    .refine(isTimeZone, { error: ZONE_ERROR })
    .optional()
    .describe("Default: the server's."),
  until: z
    .string({ error: UNTIL_ERROR })
    .trim()
    .refine((text) => /^\d{4}-\d\d-\d\d$/.test(text) && isDay(text), { error: UNTIL_ERROR })
    .optional()
    .describe("The last day."),
  budget_usd: z
    .number({ error: BUDGET_ERROR })
    .min(0.01, { error: BUDGET_ERROR })
    .max(10_000, { error: BUDGET_ERROR })
    .optional()
    .describe("For all its runs together."),
});

export const scheduleResearch = defineOperation({
  name: NAME,
  title: "Ask again every day, week or month",
  description:
    "Costs what its runs cost, of which none starts unless its usual upper price is left of budget_usd; the user is asked first. Has a question asked again every day, week or month, as a search, deep search or research. Each run is stored, and its notification says what changed. Also lists, pauses, resumes, changes and ends schedules.",
  input: inputSchema,
  output: outputSchema({ message: z.string(), schedules: z.array(z.looseObject(scheduleFields)) }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  positional: "query",
  question: async (deps, input, call) => (await prepare(deps, input, call))?.question,
  run: async (deps, input, call) => {
    const { action } = input;
    const store = await import("../../runs/schedules/schedule-store.ts");
    const db = await deps.database();
    const { owner } = call;
    const now = deps.clock.now();
    const answer = async (schedules: readonly Schedule[], message: string) => ({
      success: true,
      message,
      schedules: await Promise.all(schedules.map((schedule) => viewOf(db, schedule))),
    });
    if (action === "list") {
      const schedules = await store.listSchedules(db, owner);
      return answer(
        schedules,
        schedules.length === 0 ? "There is no schedule." : countOf(schedules.length, "schedule"),
      );
    }
    const prepared = await prepare(deps, input, call);
    const question = prepared?.question;
    // A yes without a budget is a yes to none.
    if (question !== undefined) requireConsent(call.agreed?.max_usd === undefined ? {} : call, question);
    if (prepared !== undefined && action === "create") {
      const saved = await store.insertSchedule(db, { ...prepared.schedule, owner, id: call.newTaskId, now });
      return answer([saved], `Scheduled: ${whenText(saved.rule)}. ${WHO_STARTS}`);
    }
    const scheduleId = idIn(input);
    if (action === "change" || action === "resume") {
      const check = (before: Schedule, after: Schedule): void => {
        if (question === undefined && isDearer(before, after)) throw changedMeanwhile();
      };
      const saved = await store.changeSchedule(db, { ...changeIn(input), owner, scheduleId, check, now });
      return answer([saved], action === "resume" ? "Resumed." : `Changed: ${whenText(saved.rule)}. ${WHO_STARTS}`);
    }
    if (action === "end") {
      await store.endSchedule(db, owner, scheduleId);
      return answer([], "Ended. Its runs are kept.");
    }
    const saved = await store.changeSchedule(db, { owner, scheduleId, paused: true, now });
    return answer([saved], "Paused.");
  },
  toText: ({ message, schedules }) => [message, ...schedules.map(scheduleLine)].join("\n"),
});

export type ScheduleAnswer = OutputOf<typeof scheduleResearch>;

type Input = z.output<typeof inputSchema>;

const WHO_STARTS = "Its runs start while a worker, a server or an assistant with this server is running.";

function idIn({ schedule_id: id }: Pick<Input, "schedule_id">): string {
  if (id === undefined) throw missing("schedule_id");
  return id;
}

type Prepared = Pick<Schedule, "budgetUsd" | "input" | "operation" | "rule">;

/** The schedule as it would be, and the question about it if there is one; undefined if nothing is to be stored. */
async function prepare(
  deps: OperationDeps,
  input: Input,
  call: Pick<Call, "owner">,
): Promise<{ schedule: Prepared; question: Question | undefined } | undefined> {
  if (input.action === "list") return undefined;
  const { obstacle } = await deps.recorder();
  const refusal = await obstacle();
  if (refusal !== undefined) throw notStored(refusal);
  if (input.action === "create") {
    const schedule = { ...(await asked(deps, input, call)), rule: ruleIn(input), budgetUsd: input.budget_usd ?? 0 };
    if (input.budget_usd === undefined) throw missing("budget_usd");
    return { schedule, question: await questionAbout(deps, { schedule, input, call }) };
  }
  if (input.action !== "change" && input.action !== "resume") return undefined;
  if (input.action === "change") {
    if (CHANGEABLE.every((field) => input[field] === undefined)) throw nothingToChange();
    if (FIXED.some((field) => input[field] !== undefined)) throw fixed();
  }
  const { afterChange, findSchedule } = await import("../../runs/schedules/schedule-store.ts");
  const before = await findSchedule(await deps.database(), call.owner, idIn(input));
  const schedule = afterChange(before, { ...changeIn(input), now: deps.clock.now() });
  const isAsked = isDearer(before, schedule);
  return { schedule, question: isAsked ? await questionAbout(deps, { schedule, input, call }) : undefined };
}

/** Only what is given. */
const changeIn = (input: Input): Pick<ScheduleChange, "budgetUsd" | "paused" | "rule"> =>
  input.action === "resume"
    ? { paused: false }
    : { rule: (before) => ruleIn(input, before), budgetUsd: input.budget_usd };

/** Whether more runs could start than the user has agreed to: an earlier one, too, is another one. */
function isDearer(before: Schedule, after: Schedule): boolean {
  if (before.paused && !after.paused) return true;
  const [{ every: often, until = "9999" }, { every: oftener, until: longer = "9999" }] = [before.rule, after.rule];
  return (
    after.budgetUsd > before.budgetUsd ||
    RUNS_A_MONTH[oftener] > RUNS_A_MONTH[often] ||
    longer > until ||
    // A paused one starts none until the user has agreed to resume it.
    (!after.paused && (after.nextAt ?? Infinity) < (before.nextAt ?? Infinity))
  );
}

const CHANGEABLE = ["every", "on", "at", "time_zone", "until", "budget_usd"] as const;
const FIXED = ["query", "task_id", "depth"] as const;
const RUNS_A_MONTH = { day: 30.4, week: 4.3, month: 1 };

/** What is given, else as before. */
function ruleIn({ on, ...input }: Input, before?: Rule): Rule {
  const every = input.every ?? before?.every;
  if (every === undefined) throw missing("every");
  return {
    every,
    ...dayIn({ on, every }, before),
    at: input.at ?? before?.at ?? "07:00",
    time_zone: input.time_zone ?? before?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    until: input.until ?? before?.until,
  };
}

function dayIn({ on, every }: Pick<Input, "on"> & Pick<Rule, "every">, before?: Rule): Pick<Rule, "day" | "weekday"> {
  const weekday = WEEKDAYS.find((name) => name === on);
  if (on !== undefined && every !== (weekday === undefined ? "month" : "week")) throw wrongDay();
  if (every === "day") return {};
  if (every === "week") return { weekday: weekday ?? before?.weekday ?? "monday" };
  return { day: on === undefined ? (before?.day ?? 1) : on === "last" ? 31 : Number(on) };
}

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const;

const KINDS: Record<string, ScheduledOperation> = {
  search: "search",
  deep_search: "deep_search",
  agent: "start_deep_research",
};

/** The operation of each run, and its input. */
async function asked(
  deps: OperationDeps,
  { query, task_id: taskId, depth = "research" }: Input,
  { owner }: Pick<Call, "owner">,
): Promise<Pick<Schedule, "operation" | "input">> {
  if (taskId === undefined) {
    if (query === undefined) throw missing("query");
    return { operation: depth === "research" ? "start_deep_research" : depth, input: { query } };
  }
  const run = await deps.findRun(owner, taskId);
  const operation = KINDS[run.kind];
  if (operation === undefined || !isRepeatable(run)) throw notRepeatable();
  const { options, model } = run;
  const own =
    operation === "start_deep_research"
      ? { model: model ?? DEFAULT_AGENT, ...(drawsPictures(options) ? { visualization: "auto" } : {}) }
      : operation === "deep_search" && typeof options["max_iterations"] === "number"
        ? { max_iterations: options["max_iterations"] }
        : {};
  return { operation, input: { query: run.query, ...own, ...wishesIn(options) } };
}

/** A follow-up answers from a report, and files are kept for their first start only. */
const isRepeatable = ({ part, options, followupContext, status }: Run): boolean =>
  (part === "question" || part === "research") &&
  followupContext === undefined &&
  materialOf(options) === undefined &&
  isIdle(status);

interface About {
  schedule: Prepared;
  input: Input;
  call: Pick<Call, "owner">;
}

/** The price of a run, and of all of them. The yes agrees to the budget: no run starts without room in it. */
async function questionAbout(deps: OperationDeps, { schedule, input, call }: About): Promise<Question> {
  const { countOccurrences } = await import("../../runs/schedules/calendar.ts");
  const { rule, budgetUsd, operation } = schedule;
  const { likely, max, needed } = await priceOf(deps, schedule, call);
  if (budgetUsd < needed) throw budgetTooSmall(budgetUsd, needed);
  const runs = rule.until === undefined ? undefined : countOccurrences(rule, deps.clock.now(), MAX_COUNTED);
  if (runs === 0) throw neverDue();
  const what = { search: "search", deep_search: "deep search", start_deep_research: "research" }[operation];
  const exceeded = likely === undefined ? "" : "; one run in ten costs more than that";
  const cost = `${priceText({ likely, max, runs, rule })}. No run starts unless its usual upper price is left of ${dollars(budgetUsd)}${exceeded}`;
  return {
    ask: `Repeat this ${what} ${whenText(rule)}? ${cost}.`,
    because: `This ${what} would be repeated ${whenText(rule)}. ${cost}.`,
    undone: "Nothing was scheduled.",
    command: input.action === "create" ? 'schedule "…"' : `schedule ${input.action} ${idIn(input)}`,
    details: { max_usd: max, runs, budget_usd: budgetUsd },
    subject: { operation: NAME, input: hashOfInput(input), max_usd: budgetUsd },
  };
}

interface Priced {
  likely: number | undefined;
  max: number;
  /** Until the last day. */
  runs: number | undefined;
  rule: Rule;
}

function priceText({ likely, max, runs, rule }: Priced): string {
  if (likely === undefined) return `Usually a few cents each, up to ${dollars(max)}`;
  const [all, what] =
    runs === undefined
      ? [RUNS_A_MONTH[rule.every] * likely, "a month"]
      : [runs * likely, `for ${countOf(runs, "run")}`];
  return `About ${dollars(likely)} each (up to ${dollars(max)}), about ${dollars(rounded(all))} ${what}`;
}

const MAX_COUNTED = 1_000;
const rounded = (usd: number): number => (usd < 1 ? Math.ceil(usd * 100) / 100 : Math.ceil(usd));
const DEFAULT_ROUNDS = 5;

/** `needed`: what the budget must have left for a run to start. */
async function priceOf(
  deps: OperationDeps,
  { operation, input }: Prepared,
  call: Pick<Call, "owner">,
): Promise<{ likely: number | undefined; max: number; needed: number }> {
  if (operation === "start_deep_research") {
    const { agent } = currentAgent(typeof input["model"] === "string" ? input["model"] : DEFAULT_AGENT);
    const found = await estimateFor(deps, call, { query: input.query, agent });
    if (found === undefined) throw withoutPrice();
    return { likely: found.usd.likely, max: found.usd.max, needed: found.usd.max };
  }
  const request = await maxRequestUsd(deps);
  if (request === undefined) throw withoutPrice();
  const rounds =
    operation === "search" ? 1 : Number(input["max_iterations"] ?? deps.settings.maxRounds ?? DEFAULT_ROUNDS);
  return { likely: undefined, max: rounds * request, needed: request };
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

const isDay = (text: string): boolean =>
  !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text);

const invalid = (template: string, field?: string): AppError =>
  new AppError({
    code: "INVALID_INPUT",
    message: template.replaceAll(/[{}]/g, ""),
    template,
    details: { status: 400, ...(field === undefined ? {} : { field }) },
  });

const missing = (field: string): AppError => invalid(`{${field}} is missing.`, field);
const wrongDay = (): AppError => invalid(ON_ERROR, "on");
const nothingToChange = (): AppError =>
  invalid("Nothing to change was given: {every}, {on}, {at}, {time_zone}, {until} or {budget_usd}.");
const notStored = ({ code, suggestion }: AppError): AppError =>
  new AppError({
    code,
    message: "Schedules are stored in the database, which cannot be written.",
    suggestion,
  });
/** By a run that has started, or by another call. */
const changedMeanwhile = (): AppError =>
  new AppError({
    code: "BUSY",
    message: "The schedule has changed meanwhile. Nothing was changed by this call.",
    suggestion: "Call it again.",
    retryable: true,
  });
const fixed = (): AppError =>
  invalid("The question of a schedule does not change: end it, and schedule the other one.");
const neverDue = (): AppError => invalid("No run is due before the end: {until} is too early.", "until");
const notRepeatable = (): AppError =>
  invalid("Only a finished search, deep search or research without files can be repeated.", "task_id");
const withoutPrice = (): AppError =>
  invalid(
    "No price is known for the model, so that a budget could not be kept. Add it to prices.json in the config directory.",
  );
const budgetTooSmall = (budget: number, needed: number): AppError =>
  invalid(`A budget of ${dollars(budget)} allows no run: one may cost up to ${dollars(needed)}.`, "budget_usd");
