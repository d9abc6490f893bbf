/**
 * Every command, in one table: the parser, the help and the completion scripts come from it. A command is one entry, which
 * says what it is, and adds its arguments, flags and action. What it runs is loaded when it runs.
 */

import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import type { z } from "zod";
import { SETTINGS } from "../config/settings.ts";
import { type Profile, profileSchema } from "../config/tool-sets.ts";
import { COST_KINDS } from "../costs/kinds.ts";
import { MAX_AGENT } from "../gemini/research-agent.ts";
import { EVENTS, SHAPES } from "../notifications/event-names.ts";
import { CATALOG } from "../operations/catalog.ts";
import { exportLibrary } from "../operations/library/export-library.ts";
import { importLibrary } from "../operations/library/import-library.ts";
import { listLibrary } from "../operations/list-research.ts";
import type { Operation } from "../operations/operation.ts";
import { DEPTHS, PERIODS } from "../operations/schedules/schedule-view.ts";
import { organizeRun } from "../operations/organize-run.ts";
import { SAVE_FORMATS, saveReport } from "../operations/save-report.ts";
import { RUN_KINDS, RUN_STATUSES } from "../runs/run.ts";
import { CLIENTS } from "../setup/clients.ts";
import { completionScript, type Shell, SHELLS } from "./completion-scripts.ts";
import type { CostsFlags } from "./commands/costs.ts";
import type { InitOptions } from "./init/entries.ts";
import { operationCommand, settingOption, WAIT_TEXTS, worded } from "./operation-command.ts";
import { print } from "./output.ts";
import type { CommandCall } from "./run-operation.ts";
import { OPTIONAL_RUN, RUN_ARGUMENT } from "./run-name.ts";

export interface CommandEntry {
  /** Two words for a command of a command. */
  path: string;
  /** Its heading in the list of commands. */
  group: string;
  /** For the list of commands, where the description is longer than a line. */
  summary?: string;
  description: string;
  examples: readonly string[];
  /** Related commands. */
  seeAlso?: readonly string[];
  /** Adds its arguments, flags and action. */
  define(command: Command): unknown;
}

const ASK = "Ask:";
const READ = "Your research:";
export const OPERATE = "Set up and operate:";

/** In the examples. */
const ID = "3f2a9c1e";

const QUESTION = "your question, with or without quotation marks";
const AGENT = "the agent by its name";
const MAX = {
  max: { about: "Deep Research Max: more thorough, takes longer and costs more", field: "model", value: MAX_AGENT },
};
const ROWS = "One row per item that the report compares.";

/** As the page and the list name them. */
const STATUS_WORDS = {
  waiting: "pending",
  running: "in_progress",
  unknown: "start_unknown",
  plan: "awaiting_approval",
  done: "completed",
  failed: "failed",
  cancelled: "cancelled",
};
const STATUS_ABOUT = "only runs with this status";
const KIND_ABOUT = "only this kind";
const KIND_WORDS = {
  search: "search",
  "deep-search": "deep_search",
  research: "agent",
  "quick-report": "deep_research",
};

/** Flags of the three depths. */
const WISHES = {
  language: "language of the answer, such as de or German",
  length: "short, medium, long or a number of words",
  prefer_domains: "prefer sources from these sites, separated by commas",
  avoid_domains: "avoid sources from these sites",
  since: "prefer sources from this date on (2025, 2025-03 or 2025-03-14)",
  until: "prefer sources up to this date",
};

const JSON_FLAG = ["--json", "print the whole answer as JSON"] as const;
const ANSWER_FLAG = ["--json", "print the answer as JSON"] as const;

interface Flags {
  json?: boolean;
  yes?: boolean;
  wait?: boolean;
}

const answering = (command: Command): Command => command.option(...JSON_FLAG);
const onRun = (command: Command): Command => answering(command).argument("<run>", RUN_ARGUMENT);

async function run<Output extends Record<string, unknown>>(
  operation: Operation<z.ZodObject, Output>,
  call: CommandCall<Output>,
): Promise<void> {
  const { runOperation } = await import("./run-operation.ts");
  await runOperation(operation, call);
}

const results = () => import("./render/answers/results-view.ts");
const runs = () => import("./render/answers/run-views.ts");

/** A function of a module that is loaded when the function is called. */
const lazily =
  <Given extends unknown[], Made>(load: () => Promise<(...given: Given) => Made | Promise<Made>>) =>
  async (...given: Given): Promise<Made> =>
    (await load())(...given);

const statusView = lazily(async () => (await runs()).statusView);
const resumedView = lazily(async () => (await runs()).resumedView);
const followupView = lazily(async () => (await runs()).followupView);
const cancelledView = lazily(async () => (await runs()).cancelledView);
const savedView = lazily(async () => (await runs()).savedView);
const exportedView = lazily(async () => (await runs()).exportedView);
const importedView = lazily(async () => (await runs()).importedView);
const organizedView = lazily(async () => (await runs()).organizedView);
const resultsView = lazily(async () => (await results()).resultsView);
const csvView = lazily(async () => (await results()).csvView);
const listView = lazily(async () => (await import("./render/list-view.ts")).listView);
const schedulesView = lazily(async () => (await import("./render/schedules-view.ts")).schedulesView);

interface ScheduleFlags extends Flags {
  depth?: string;
  run?: string;
  every?: string;
  on?: string;
  at?: string;
  timeZone?: string;
  until?: string;
  budget?: number | string;
}

/** When, and within which budget. */
const scheduling = (command: Command): Command =>
  command
    .addOption(new Option("--every <period>", "how often").choices(PERIODS))
    .option("--on <day>", "weekday, or day of the month, 1 to 31 or last (default: monday, 1)")
    .option("--at <time>", "time of day (default: 07:00)")
    .option("--time-zone <name>", "such as Europe/Berlin (default: that of this machine)")
    .option("--until <date>", "the last day")
    .option("--budget <usd>", "the budget of all its runs", (text) => (text === "" ? text : Number(text)))
    .option("--yes", "skip the cost confirmation")
    .option(...ANSWER_FLAG);

const schedule = (
  action: string,
  { depth, run: task_id, timeZone: time_zone, budget: budget_usd, ...flags }: ScheduleFlags,
  more: Record<string, unknown> = {},
): Promise<void> => {
  const { json = false, yes = false, every, on, at, until } = flags;
  const given = { ...more, depth, task_id, every, on, at, time_zone, until, budget_usd };
  const input = Object.fromEntries(Object.entries({ action, ...given }).filter(([, value]) => value !== undefined));
  return run(CATALOG.schedule_research, { input, json, yes, view: schedulesView });
};

const onSchedule =
  (action: string) =>
  (command: Command): Command =>
    command
      .option(...ANSWER_FLAG)
      .argument("<schedule>", SCHEDULE_ARGUMENT)
      .action((schedule_id: string) => schedule(action, ofBoth(command), { schedule_id }));

/** An option that `schedule` declares, too, is read as one of `schedule`, wherever it stands. */
const ofBoth = (command: Command): ScheduleFlags => command.optsWithGlobals();

const SCHEDULE_ARGUMENT = "its id, which schedule list shows";

const confirmation = () => import("./confirm.ts");
const confirmCancel = lazily(async () => (await confirmation()).confirmCancel);
const confirmStop = lazily(async () => (await confirmation()).confirmStop);
const confirmDeletion = lazily(async () => (await confirmation()).confirmDeletion);
const confirmTable = lazily(async () => (await confirmation()).confirmTable);

const webhooks = () => import("./commands/webhook.ts");
const tokens = () => import("./commands/token.ts");

interface TableFlags extends Flags {
  rows: string;
  csv?: boolean;
}

const isAtTerminal = (): boolean => process.stdout.isTTY && process.stderr.isTTY;

/** Sets a mark of a run, or removes it. */
const marking =
  (marks: { starred: boolean } | { archived: boolean }) =>
  (command: Command): Command =>
    onRun(command).action((task_id: string, { json = false }: Flags) =>
      run(organizeRun, { input: { task_id, ...marks }, json, view: organizedView }),
    );

const RESUMING = {
  fields: {
    interaction_id: "adopt the interaction with this id, which AI Studio shows, for a start whose outcome is unknown",
    accept_possible_double_charge: "start again although the first start may be running and charged",
    approve: "start the research of a plan, like the command approve",
    plan_edit: "what to change in the plan, like plan --edit",
    plan_turn: "the number of the plan that you saw; any other is refused",
  },
  view: resumedView,
};

const appended = (word: string, before: string[] = []): string[] => [...before, word];

interface EditFlags extends Flags {
  title?: string;
  note?: string;
  tag?: string[];
  untag?: string[];
  star?: boolean;
  archive?: boolean;
}

async function editRun(
  task_id: string,
  { title, note, tag, untag, star, archive, json = false }: EditFlags,
  command: Command,
): Promise<void> {
  if ([title, note, tag, untag, star, archive].every((change) => change === undefined))
    command.error("error: nothing to change: add --title, --tag, --note, --star or --archive");
  const marks = {
    ...(title === undefined ? {} : { title }),
    ...(note === undefined ? {} : { note }),
    ...(tag === undefined ? {} : { tag }),
    ...(untag === undefined ? {} : { untag }),
    ...(star === undefined ? {} : { starred: star }),
    ...(archive === undefined ? {} : { archived: archive }),
  };
  await run(organizeRun, { input: { task_id, ...marks }, json, view: organizedView });
}

interface SaveFlags extends Flags {
  output?: string;
  force?: boolean;
  format?: string;
  with?: string[];
  metadata: boolean;
  includeMetadata: boolean;
  sources: boolean;
  includeSources: boolean;
  outputDir?: string;
  filenamePrefix?: string;
}

const listOf = (text: string): string[] => text.split(",").map((part) => part.trim());

const saving = (command: Command): Command =>
  answering(command)
    .argument("[run]", OPTIONAL_RUN)
    .option(
      "-o, --output <file>",
      "the file, whose ending is its format, or a directory (default: RESEARCH_REPORTS_DIR, else ./research_reports)",
    )
    .option("--force", "replace the file if it exists")
    .addOption(
      new Option(
        "--format <format>",
        "md (default), html, docx or json: the report; csv: its table; bibtex, ris or csl: its sources for a reference manager",
      ).choices([...SAVE_FORMATS, "markdown"]),
    )
    .option("--with <list>", "also verdicts on its citations, followups, tables; separated by commas", listOf)
    .option("--no-metadata", "leave out model, times, tokens and cost")
    .option("--no-sources", "leave out the sources")
    // Spellings of an earlier version.
    .addOption(new Option("--output-dir <directory>").hideHelp())
    .addOption(new Option("--filename-prefix <prefix>").hideHelp())
    .addOption(new Option("--no-include-metadata").hideHelp())
    .addOption(new Option("--no-include-sources").hideHelp())
    .action(async (task_id: string | undefined, { json = false, force = false, ...flags }: SaveFlags) => {
      const { confirmReplacing, targetOf } = await import("./commands/save-file.ts");
      const input = {
        task_id,
        ...targetOf(flags),
        replace: force,
        ...(flags.with === undefined ? {} : { with: flags.with }),
        ...(flags.format === undefined ? {} : { format: flags.format === "markdown" ? "md" : flags.format }),
        include_metadata: flags.metadata && flags.includeMetadata,
        include_sources: flags.sources && flags.includeSources,
      };
      await run(saveReport, { input, json, confirm: confirmReplacing, view: savedView });
    });

interface ExportFlags extends Flags {
  output?: string;
  force?: boolean;
  status?: string;
  kind?: string;
  tag?: string;
  starred?: boolean;
  archived?: boolean;
}

const exporting = (command: Command): Command =>
  answering(command)
    .argument("[words...]", "only runs with these words in title, tags, note, question, report or sources")
    .option("-o, --output <file>", "the file, or a directory (default: RESEARCH_REPORTS_DIR, else ./research_reports)")
    .option("--force", "replace the file if it exists")
    .addOption(worded(new Option("--status <status>", STATUS_ABOUT).choices(RUN_STATUSES), STATUS_WORDS))
    .addOption(worded(new Option("--kind <kind>", KIND_ABOUT).choices(RUN_KINDS), KIND_WORDS))
    .option("--tag <word>", "only runs with this tag")
    .option("--starred", "only starred runs")
    .option("--archived", "only archived runs")
    .action(async (words: string[], { json = false, force = false, output, ...filter }: ExportFlags) => {
      const { confirmReplacing, targetOf } = await import("./commands/save-file.ts");
      const text = words.length === 0 ? {} : { text: words.join(" ") };
      const input = { ...filter, ...text, ...targetOf(output === undefined ? {} : { output }), replace: force };
      await run(exportLibrary, { input, json, confirm: confirmReplacing, view: exportedView });
    });

interface AddressFlags {
  host?: string;
  port?: string;
}

interface ServeFlags extends AddressFlags {
  profile?: Profile;
  auth: boolean;
  open?: boolean;
}

interface PageFlags extends AddressFlags {
  open: boolean;
  json?: boolean;
}

const PORT = { ...SETTINGS.MCP_SERVER_PORT, wrong: "Port must be a number from 0 to 65535." };

const PROFILE = {
  schema: () => profileSchema,
  about: "tools in the shape that one client expects: chatgpt",
  wrong: "The profile must be chatgpt.",
};

const atAddress = (command: Command): Command =>
  command
    .addOption(settingOption(SETTINGS.MCP_SERVER_HOST, "--host <address>"))
    .addOption(settingOption(PORT, "--port <n>"));

const addressFlags = ({ host, port }: AddressFlags) => ({ MCP_SERVER_HOST: host, MCP_SERVER_PORT: port });

const showingPage = (command: Command): Command =>
  command
    .option("--no-open", "print the link instead of opening it (single use, valid two minutes)")
    .option(...ANSWER_FLAG);

async function openDashboard(
  wanted: { name: string | undefined } | undefined,
  { open, json = false, ...flags }: PageFlags,
): Promise<void> {
  const { runDashboard } = await import("./commands/dashboard.ts");
  await runDashboard({ flags: addressFlags(flags), run: wanted, open, json });
}

/** Characters that every client accepts; some make the name part of the tool names. */
function entryName(text: string): string {
  if (/^[\w-]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError("Use 1 to 64 letters, digits, underscores or hyphens.");
}

/** One that begins so, or differs in a letter, is named first. */
function clientNames(text: string, before: string[] = []): string[] {
  const names: string[] = CLIENTS.map(({ name }) => name);
  if (names.includes(text)) return [...before, text];
  const meant = text.length < 3 ? undefined : names.find((name) => name.startsWith(text.slice(0, 5)));
  const question = meant === undefined ? "" : `Did you mean "${meant}"? `;
  throw new InvalidArgumentError(`${question}Allowed choices are ${names.join(", ")}.`);
}

function httpUrl(text: string): string {
  if (URL.canParse(text) && /^https?:\/\//.test(text)) return text;
  throw new InvalidArgumentError("Use a URL that starts with http:// or https://.");
}

interface MigrateFlags {
  from?: string;
  to?: string;
  force?: boolean;
  json?: boolean;
}

const TOKEN_HELP = `
A run belongs to the name whose token started it, and no other name can see it.
A name that you revoke and add again has access to its former runs, so do not
give it to another person.`;

const WEBHOOK_HELP = `
A message has the question, the state and the cost of a run, never its report.
It is sent again for a day and a half until the receiver accepts it.`;

const MIGRATE_HELP = `
First stop the servers and workers that use the file. If the migration is
interrupted, nothing was copied: run the command again. Other users of this
machine can read command arguments, so set GEMINI_SEARCH_DATABASE_URL, or pass
the URL on stdin with --to -.`;

const INSTALL_COMPLETION = `
Install it once, then open a new shell:
  bash  gemini-search-mcp completion bash > ~/.local/share/bash-completion/completions/gemini-search-mcp
        or in ~/.bashrc: eval "$(gemini-search-mcp completion bash)"
  zsh   in ~/.zshrc, after compinit: eval "$(gemini-search-mcp completion zsh)"
  fish  gemini-search-mcp completion fish > ~/.config/fish/completions/gemini-search-mcp.fish`;

/** In the order of the list of commands, below each heading. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    path: "search",
    group: ASK,
    summary: "Answer from the web in seconds",
    description: "Answer a question from the web: Gemini searches, reads pages and answers with sources. About a cent.",
    examples: ["search which heat pump is quietest", "search - --json < question.txt"],
    seeAlso: ["deep-search", "research"],
    define: operationCommand(CATALOG.search, {
      fields: { query: QUESTION, ...WISHES },
      view: async (output, space) => (await results()).searchView(output, space),
    }),
  },
  {
    path: "deep-search",
    group: ASK,
    summary: "Verified answer in minutes",
    description:
      "Research a question from five perspectives, then check and correct the answer until a round confirms it. 1 to 10 minutes, a few cents per round.",
    examples: ["deep-search how do heat pumps perform in cold climates --rounds 3"],
    seeAlso: ["search", "research"],
    define: operationCommand(CATALOG.deep_search, {
      fields: { query: QUESTION, max_iterations: "maximum number of rounds, 2 to 20 (default 5)", ...WISHES },
      view: async (output, space) => (await results()).deepSearchView(output, space),
    }),
  },
  {
    path: "research",
    group: ASK,
    summary: "Long report in up to an hour",
    description:
      "Start deep research at Google and watch it: a long report with citations, for broad or difficult questions. 5 to 60 minutes, about $1 to $3, with --max $3 to $11. It continues at Google when you leave.",
    examples: [
      "research heat pumps in Norway --no-wait",
      "research heat pumps in Norway --max",
      "research --file offer.pdf is this a fair price",
    ],
    seeAlso: ["estimate", "watch", "cancel"],
    define: operationCommand(CATALOG.start_deep_research, {
      fields: {
        query: QUESTION,
        enable_notifications: "don't show a desktop notification when it is done",
        max_wait_hours: "stop waiting after this many hours, 1 to 72 (default 8)",
        model: AGENT,
        force_new: "start and pay again even if the same research was started minutes ago",
        visualization: "auto (default): charts, if the question asks for them; off: none",
        plan: "first show Google's plan, for cents; you approve or change it",
        ...WISHES,
        files: "send this file, too: PDF, text, Markdown, CSV, PNG, JPEG or WebP; repeatable",
        urls: "let the agent read this page, too; repeatable",
        file_search_stores: "search this file search store, too; repeatable",
        mcp_servers: "use this server of GEMINI_SEARCH_MCP_SERVERS, too; repeatable",
      },
      presets: MAX,
      waitsOnTerminal: true,
      view: async (output, space) => (await runs()).startedView(output, space),
    }),
  },
  {
    path: "estimate",
    group: ASK,
    summary: "Price and time before you start",
    description: "Estimate what deep research on a question costs and how long it takes. Free, works without a key.",
    examples: ["estimate heat pumps in Norway and Finland", "estimate heat pumps in Norway --max"],
    seeAlso: ["research", "costs"],
    define: operationCommand(CATALOG.estimate_research_cost, {
      fields: { query: QUESTION, model: AGENT },
      presets: MAX,
      view: async (output, space) => (await runs()).estimateView(output, space),
    }),
  },
  {
    path: "list",
    group: READ,
    summary: "List your runs",
    description:
      "List your runs, newest first; with words, those that have them in title, tags, note, question, report or sources, best match first. When piped: tab-separated id, status, kind, start, cost and question.",
    examples: ["list", "list heat pump", "list --status done --limit 100", "list --tag heating", "list | cut -f1,6"],
    seeAlso: ["show", "edit"],
    define: operationCommand(listLibrary, {
      words: "text",
      fields: {
        status: STATUS_ABOUT,
        kind: KIND_ABOUT,
        text: "words in titles, tags, notes, questions, reports and sources, archived runs included; quotation marks keep words together",
        limit: "maximum number of runs, 1 to 100 (default 20)",
        cursor: "continue after the page that ended with this cursor",
        tag: "only runs with this tag",
        starred: "only starred runs",
        archived: "only archived runs, which are hidden otherwise",
      },
      choices: { status: STATUS_WORDS, kind: KIND_WORDS },
      view: listView,
    }),
  },
  {
    path: "show",
    group: READ,
    summary: "Show a report",
    description:
      "Show the report of a run: in full, or as far as it got when it failed or was cancelled. Free and local.",
    examples: ["show", "show heat", `show ${ID} --section outline`],
    seeAlso: ["save", "open", "list"],
    define: operationCommand(CATALOG.get_research_results, {
      fields: {
        include_sources: "leave out the sources",
        section: "outline, all, sources, or a section of the outline such as 2.1",
        as: "table: show a table that was made of the report",
        columns: "with --as table: a column of that table; repeatable",
      },
      isRunOptional: true,
      view: resultsView,
    }),
  },
  {
    path: "watch",
    group: READ,
    summary: "Watch a run until it ends",
    description: "Show a run live until it ends, then print its report. Ctrl-C leaves; the run continues.",
    examples: ["watch", `watch ${ID}`],
    seeAlso: ["show", "cancel"],
    define: (command) =>
      answering(command)
        .argument("[run]", `${RUN_ARGUMENT}; default: the newest that has not ended, else the newest`)
        .action((task_id: string | undefined, { json = false }: Flags) =>
          run(CATALOG.check_research_status, {
            input: { task_id },
            wait: true,
            prefersUnfinished: true,
            json,
            view: statusView,
          }),
        ),
  },
  {
    path: "followup",
    group: READ,
    summary: "Ask about a finished report",
    description:
      "Ask a further question about a finished run and watch the answer come. Google continues its own research; where it cannot, the stored report is sent along. About a minute, a few cents.",
    examples: [`followup ${ID} and what about apartments`, `followup ${ID} "Which of these is cheapest?" --json`],
    seeAlso: ["show", "research"],
    define: operationCommand(CATALOG.ask_followup, {
      fields: {
        question: QUESTION,
        wait: "return as soon as it is started",
        columns: "answer with a table that has this column, like the command table; repeatable",
      },
      runFirst: true,
      waitsOnTerminal: true,
      view: followupView,
    }),
  },
  {
    path: "table",
    group: READ,
    summary: "Make a table of a report",
    description:
      "Make a table of a finished report: every cell with its sources, or marked as not found. A model reads the stored report, for cents; the price is printed first. A table that was made before is free.",
    examples: [
      `table ${ID} Maker Price "Noise at night" --rows "one row per heat pump"`,
      `table ${ID} Maker Price --csv > pumps.csv`,
    ],
    seeAlso: ["followup", "save"],
    define: (command) =>
      command
        .argument("<run>", RUN_ARGUMENT)
        .argument("<columns...>", "names of the columns, up to 20; quote names with spaces")
        .option("--rows <text>", "what a row is, such as “one row per manufacturer”", ROWS)
        .option("--csv", "print it as CSV")
        .option("--yes", "skip the cost confirmation")
        .option(...JSON_FLAG)
        .action((task_id: string, columns: string[], { rows, csv, yes = false, json = false }: TableFlags) =>
          run(CATALOG.ask_followup, {
            input: { task_id, question: rows, columns, wait: json },
            json,
            yes,
            wait: true,
            confirm: confirmTable,
            ...(csv === true
              ? { view: async ({ results: made }) => csvView({ ...made, query: rows }), endView: csvView }
              : { view: followupView }),
          }),
        ),
  },
  {
    path: "check",
    group: READ,
    summary: "Check a report against its sources",
    description:
      "Fetch the pages that a report cites and compare each with what the report says. Pages that were checked within a day are not fetched again. Free; with an API key a model judges what was not confirmed, for at most $0.05 a report (VERIFY_JUDGE). docs/google-terms.md explains what Google's terms say about it.",
    examples: [`check ${ID}`, `check ${ID} --source 3 --refetch`],
    seeAlso: ["show", "save"],
    define: operationCommand(CATALOG.verify_citations, {
      fields: {
        numbers: "only this source, with the passages that were found; repeatable, or separated by commas",
        refetch: "fetch pages again that were checked within the last day",
      },
      isRunOptional: true,
      view: async (output, space) => (await import("./render/answers/citations-view.ts")).citationsView(output, space),
    }),
  },
  {
    path: "changes",
    group: READ,
    summary: "What changed since an earlier report",
    description:
      "Compare a report with an earlier one of the same question: figures, dates and names that changed, with both sentences; findings and sources that are new or gone. Without a model: free and local.",
    examples: ["changes", `changes ${ID}`, `changes ${ID} --earlier 91d0b7aa`],
    seeAlso: ["show", "check"],
    define: operationCommand(CATALOG.compare_reports, {
      fields: { earlier: "the run to compare with (default: the newest earlier one with the same question)" },
      isRunOptional: true,
      view: async (output, space) => (await import("./render/answers/changes-view.ts")).changesView(output, space),
    }),
  },
  {
    path: "save",
    group: READ,
    summary: "Save a report, table or sources",
    description:
      "Save the report of a run as Markdown, HTML, Word or JSON, its sources for a reference manager, or its table. The file is named by its title, and nothing is overwritten without your consent.",
    examples: [
      "save last",
      `save ${ID} -o heat-pumps.docx --with verdicts,followups,tables`,
      `save ${ID} --format bibtex`,
    ],
    seeAlso: ["show"],
    define: saving,
  },
  {
    path: "open",
    group: READ,
    summary: "Open a run in the browser",
    description: "Open a run in the browser, starting a server if none is running.",
    examples: ["open", `open ${ID}`, "open --home"],
    seeAlso: ["show", "serve"],
    define: (command) =>
      showingPage(atAddress(command.argument("[run]", OPTIONAL_RUN)))
        .option("--home", "show your questions and runs instead of a run")
        .action((name: string | undefined, { home = false, ...flags }: PageFlags & { home?: boolean }) =>
          openDashboard(home ? undefined : { name }, flags),
        ),
  },
  {
    path: "plan",
    group: READ,
    summary: "Show or change a plan",
    description:
      "Show the plan of a research that waits for approval, or change it with --edit, for cents. At a terminal you can approve or change it there.",
    examples: [`plan ${ID}`, `plan ${ID} --edit "leave out Asia"`],
    seeAlso: ["approve", "cancel"],
    define: (command) =>
      command
        .argument("<run>", RUN_ARGUMENT)
        .option("--edit <change>", "what to change in the plan")
        .option("--yes", "skip the cost confirmation")
        .option(...JSON_FLAG)
        .action((task_id: string, { edit, yes = false, json = false }: Flags & { edit?: string }) => {
          const wait = isAtTerminal() && !json;
          if (edit !== undefined) {
            const input = { task_id, plan_edit: edit };
            return run(CATALOG.resume_research, { input, wait, yes, json, view: resumedView });
          }
          // Watching a run that waits for approval shows its plan and asks.
          return wait
            ? run(CATALOG.check_research_status, { input: { task_id }, wait, json, view: statusView })
            : run(CATALOG.get_research_results, { input: { task_id }, json, view: resultsView });
        }),
  },
  {
    path: "approve",
    group: READ,
    summary: "Approve a plan and start the research",
    description:
      "Start the research that a plan describes, and watch it. About $1 to $3, Max $3 to $11; the plan shows what it will probably cost. Approving twice starts it once.",
    examples: [`approve ${ID}`, `approve ${ID} --no-wait --yes`],
    seeAlso: ["plan", "watch"],
    define: (command) =>
      command
        .argument("<run>", RUN_ARGUMENT)
        .option("--wait", WAIT_TEXTS.wait)
        .option("--no-wait", "return as soon as the research is started (default in a pipe)")
        .option("--yes", "skip the cost confirmation")
        .option(...JSON_FLAG)
        .action((task_id: string, { yes = false, json = false, wait = isAtTerminal() && !json }: Flags) =>
          run(CATALOG.resume_research, { input: { task_id, approve: true }, wait, yes, json, view: resumedView }),
        ),
  },
  {
    path: "retry",
    group: READ,
    summary: "Retry what failed or was cancelled",
    description:
      "Retry a run that failed or was cancelled: check a failed research again (free), continue a deep search at its next round (cents), resolve a start whose outcome is unknown, or else ask the question again, after stating the price of a research. Never charges twice without your consent.",
    examples: [`retry ${ID}`, `retry ${ID} --interaction-id v1_abc`],
    seeAlso: ["watch", "cancel"],
    define: operationCommand(CATALOG.resume_research, {
      ...RESUMING,
      run: async (call) => (await import("./commands/retry.ts")).runRetry(call),
    }),
  },
  {
    path: "cancel",
    group: READ,
    summary: "Cancel a run",
    description:
      "Cancel a run, here and at Google; research that you pay for only after a confirmation. Finished rounds and text that has arrived are kept, but research writes its text at the end. What Google has charged stays charged.",
    examples: [`cancel ${ID}`, `cancel ${ID} --yes`],
    seeAlso: ["retry", "delete"],
    define: (command) =>
      onRun(command)
        .option("--discard", "discard what was found so far")
        .option("--yes", "skip the confirmation")
        .action((task_id: string, { discard = false, yes = false, json = false }: Flags & { discard?: boolean }) => {
          const input = { task_id, save_partial: !discard };
          return run(CATALOG.cancel_research, { input, yes, json, confirm: confirmCancel, view: cancelledView });
        }),
  },
  {
    path: "edit",
    group: READ,
    summary: "Change its title, tag, annotate or archive it",
    description:
      "Give a run a title, which the list shows instead of its question, tag it with words of your own, write a note on it, star it, or archive it, which hides it from the list. Searches find titles, tags and notes.",
    examples: [
      `edit ${ID} --title "Heating our house"`,
      `edit ${ID} --tag heating --tag norway`,
      `edit ${ID} --note "Ask Anna about the price"`,
      `edit ${ID} --star`,
      `edit ${ID} --archive`,
    ],
    seeAlso: ["list", "delete"],
    define: (command) =>
      onRun(command)
        .option("--title <text>", 'the title, at most 200 characters; "" shows the question again')
        .option("--tag <word>", "tag it; repeatable; list --tag shows it", appended)
        .option("--untag <word>", "remove a tag; repeatable", appended)
        .option("--note <text>", 'a note of your own, at most 5,000 characters; "" removes it')
        .option("--star", "star it; list --starred shows it")
        .option("--no-star", "remove its star")
        .option("--archive", "hide it from the list; list --archived shows it")
        .option("--no-archive", "return it to the list")
        .action(editRun),
  },
  {
    path: "delete",
    group: READ,
    summary: "Delete a run for good",
    description:
      "Delete a run with its report, sources and timeline; one that is running is cancelled first. Saved files are kept. Asks for confirmation.",
    examples: [`delete ${ID}`, `delete ${ID} --at-google --yes`],
    seeAlso: ["edit", "cancel"],
    define: (command) =>
      onRun(command)
        .option("--at-google", "delete Google's copy, too")
        .option("--yes", "skip the confirmation")
        .action((task_id: string, { atGoogle = false, yes = false, json = false }: Flags & { atGoogle?: boolean }) => {
          const input = { task_id, delete: true, delete_at_google: atGoogle };
          return run(CATALOG.cancel_research, { input, yes, json, confirm: confirmDeletion, view: cancelledView });
        }),
  },
  {
    path: "costs",
    group: READ,
    summary: "Costs by kind, model, user and day",
    description:
      "Show what was spent in a period, by kind of request, model, user and day. Days are those of UTC; without a period it is the last 30 days.",
    examples: ["costs", "costs --since 2026-11-01 --kind research", "costs --csv > costs.csv", "costs --reconcile"],
    seeAlso: ["estimate"],
    define: (command) =>
      answering(command)
        .option("--since <date>", "the first day")
        .option("--until <date>", "the last day; default: today")
        .option("--kind <kind>", `only ${COST_KINDS.join(", ")}`)
        .option("--model <name>", "only this model or agent")
        .option("--owner <user>", "only this user of a shared server")
        .option("--csv", "print a line per day, user, kind and model for a spreadsheet")
        .addOption(
          new Option("--reconcile", "ask Google again what reserved requests have used, and list what stays reserved") //
            .conflicts(["since", "until", "kind", "model", "owner", "csv"]),
        )
        .action(async (flags: CostsFlags) => (await import("./commands/costs.ts")).printCosts(flags)),
  },
  {
    path: "init",
    group: OPERATE,
    summary: "Connect your AI assistant",
    description: "Connect your AI assistants: tests your key, shows every change, asks before writing, keeps backups.",
    examples: ["init", "init claude-code codex --yes", "init --dry-run"],
    seeAlso: ["doctor"],
    define: (command) =>
      command
        .addArgument(
          new Argument("[clients...]", "which ones; default: all that are found")
            .choices(CLIENTS.map((client) => client.name))
            .argParser(clientNames),
        )
        .option("--yes", "write without asking")
        .option("--dry-run", "preview the changes")
        .option("--diff", "show the lines that are written")
        .option("--remove", "disconnect instead")
        .option("--http", "connect to a running server by its URL instead of starting one")
        .option("--url <url>", "with --http: the URL, if it is not the configured one", httpUrl)
        .option("--save-key", "save GEMINI_API_KEY in config.json, readable only by you, so that every client finds it")
        .option("--write-token", "with --http: write the token itself instead of a reference to MCP_AUTH_TOKEN")
        .addOption(
          new Option("--scope <scope>", "for you or for this project only")
            .choices(["user", "project"])
            .default("user"),
        )
        .option("--name <entry>", "name of the entry", entryName, "gemini-search")
        .option("--json", "print the outcome as JSON, without asking")
        .action(async (clients: string[], options: Omit<InitOptions, "clients">) =>
          (await import("./init/init.ts")).runInit({ ...options, clients }),
        ),
  },
  {
    path: "doctor",
    group: OPERATE,
    summary: "Check this installation",
    description:
      "Check this installation (Node, database, key, network, assistants …) and show how to fix what is wrong.",
    examples: ["doctor", "doctor --offline --json"],
    seeAlso: ["demo"],
    define: (command) =>
      command
        .option("--offline", "skip the checks that need the network")
        .option("--json", "print the findings as JSON")
        .addHelpText("after", "\nExits 1 if something must be fixed.")
        .action(async ({ offline = false, json = false }: Flags & { offline?: boolean }) =>
          (await import("./commands/doctor.ts")).runDoctor({ json, online: !offline }),
        ),
  },
  {
    path: "serve",
    group: OPERATE,
    summary: "Serve MCP over HTTP",
    description:
      "Serve the tools and the page in the browser over HTTP (MCP Streamable HTTP at /mcp) to any number of clients.",
    examples: ["serve", "serve --port 3100"],
    seeAlso: ["token", "worker"],
    define: (command) =>
      atAddress(command)
        .addOption(settingOption(PROFILE, "--profile <name>"))
        .option("--no-auth", "run without tokens (loopback only)")
        .option("--open", "open the page in the browser")
        .action(async ({ profile, auth, open = false, ...flags }: ServeFlags) => {
          const { pageOnTerminal, runServe } = await import("./commands/serve.ts");
          await runServe({ flags: addressFlags(flags), profile, auth, page: pageOnTerminal({ open }) });
        }),
  },
  {
    path: "schedule",
    group: OPERATE,
    summary: "Ask again every day, week or month",
    description:
      "Have a question asked again every day, week or month. The price is shown and confirmed first, and no run starts unless its usual upper price is left of the budget. Runs start while a worker, a server or an assistant is running; the notification says what changed.",
    examples: [
      "schedule heat pump subsidies in Norway --every week --on monday --at 07:00 --until 2027-03-01 --budget 60",
      `schedule --run ${ID} --every month --on last --budget 20`,
      "schedule list",
    ],
    seeAlso: ["worker", "changes"],
    define: (command) =>
      scheduling(
        command
          .argument("[question...]", QUESTION)
          .option("--run <run>", "repeat this run instead of a new question")
          .addOption(new Option("--depth <depth>", "of each run (default: research)").choices(DEPTHS)),
      ).action((words: string[], flags: ScheduleFlags) =>
        schedule("create", flags, words.length === 0 ? {} : { query: words.join(" ") }),
      ),
  },
  {
    path: "schedule list",
    group: OPERATE,
    description:
      "List your schedules with their next and last run. When piped: tab-separated id, state, depth, next run, last run, used and budget in dollars, rule and question.",
    examples: ["schedule list", "schedule list --json"],
    define: (command) => command.option(...ANSWER_FLAG).action(() => schedule("list", ofBoth(command))),
  },
  {
    path: "schedule pause",
    group: OPERATE,
    description: "Start no further run until the schedule is resumed.",
    examples: [`schedule pause ${ID}`],
    define: onSchedule("pause"),
  },
  {
    path: "schedule resume",
    group: OPERATE,
    description: "Start its runs again, from the next one on, once you have agreed to their price.",
    examples: [`schedule resume ${ID}`],
    define: (command) => onSchedule("resume")(command.option("--yes", "skip the cost confirmation")),
  },
  {
    path: "schedule change",
    group: OPERATE,
    description: "Change when a schedule is due, or its budget. More, earlier or dearer runs are confirmed again.",
    examples: [`schedule change ${ID} --every month --budget 100`],
    define: (command) =>
      scheduling(command.argument("<schedule>", SCHEDULE_ARGUMENT)).action((schedule_id: string) =>
        schedule("change", ofBoth(command), { schedule_id }),
      ),
  },
  {
    path: "schedule end",
    group: OPERATE,
    description: "End a schedule for good. Its runs are kept.",
    examples: [`schedule end ${ID}`],
    define: onSchedule("end"),
  },
  {
    path: "worker",
    group: OPERATE,
    summary: "Collect results in the background",
    description: "Collect unfinished research in the background, with no client open, and notify you when it is done.",
    examples: ["worker", "worker --until-idle"],
    seeAlso: ["status"],
    define: (command) =>
      command
        .option("--until-idle", "exit when all runs have finished")
        .action(async ({ untilIdle = false }: { untilIdle?: boolean }) =>
          (await import("./commands/worker.ts")).runWorker({ untilIdle }),
        ),
  },
  {
    path: "status",
    group: OPERATE,
    summary: "Show workers and polls",
    description: "Show workers, runs in progress, polls and errors, and what to do if runs are polled late.",
    examples: ["status", "status --json"],
    seeAlso: ["worker", "doctor"],
    define: (command) =>
      command
        .option("--json", "print the status as JSON")
        .addHelpText("after", "\nExits 1 if runs are late or not polled at all, so you can use it as a health check.")
        .action(async ({ json = false }: Flags) => (await import("./commands/status.ts")).printStatus({ json })),
  },
  {
    path: "webhook",
    group: OPERATE,
    summary: "Notify other programs",
    description: "Manage webhooks: addresses that are sent a short message when research ends or needs you.",
    examples: ["webhook add https://example.com/hook", "webhook list"],
    seeAlso: ["worker"],
    define: (command) => command.addHelpText("after", WEBHOOK_HELP),
  },
  {
    path: "webhook add",
    group: OPERATE,
    description: "Add a webhook, and print the secret that signs its messages once.",
    examples: [
      "webhook add https://example.com/hook",
      "webhook add https://hooks.slack.com/services/… --shape slack --events research.finished,research.failed",
      "webhook add http://127.0.0.1:8090/research --shape ntfy --private",
    ],
    define: (command) =>
      command
        .option(...ANSWER_FLAG)
        .argument("<url>", "the address, which begins with https://")
        .addOption(new Option("--shape <shape>", "the body that the receiver expects").choices([...SHAPES]))
        .option("--events <list>", `some of ${EVENTS.join(", ")}; all if unset`, listOf)
        .option("--private", "allow http and an address in your own network")
        .action(lazily(async () => (await webhooks()).addWebhook)),
  },
  {
    path: "webhook list",
    group: OPERATE,
    description: "List your webhooks, and why one is no longer used; never the secret or the whole address.",
    examples: ["webhook list --json"],
    define: (command) => command.option(...ANSWER_FLAG).action(lazily(async () => (await webhooks()).listWebhooks)),
  },
  {
    path: "webhook test",
    group: OPERATE,
    description: "Send a test message. If it is accepted, a disabled webhook is used again.",
    examples: ["webhook test whk_0c1d2e3f4a5b"],
    define: (command) =>
      command
        .option(...ANSWER_FLAG)
        .argument("<webhook>", "its id, as the list shows it")
        .action(lazily(async () => (await webhooks()).testWebhook)),
  },
  {
    path: "webhook remove",
    group: OPERATE,
    description: "Remove a webhook. What it has not been sent yet is dropped.",
    examples: ["webhook remove whk_0c1d2e3f4a5b"],
    define: (command) =>
      command
        .option(...ANSWER_FLAG)
        .argument("<webhook>", "its id, as the list shows it")
        .action(lazily(async () => (await webhooks()).removeWebhook)),
  },
  {
    path: "token",
    group: OPERATE,
    summary: "Manage access tokens",
    description: "Manage access tokens for the server. Each name has a token and runs of its own.",
    examples: ["token add anna", "token list"],
    seeAlso: ["serve"],
    define: (command) => command.addHelpText("after", TOKEN_HELP),
  },
  {
    path: "token add",
    group: OPERATE,
    description: "Create a token for a name and print it once.",
    examples: ["token add anna"],
    define: (command) =>
      command
        .option(...ANSWER_FLAG)
        .argument("<name>", "1 to 64 of a-z, 0-9, dot, underscore, hyphen")
        .addHelpText("after", TOKEN_HELP)
        .action(lazily(async () => (await tokens()).addNamedToken)),
  },
  {
    path: "token list",
    group: OPERATE,
    description: "List the names with a token, when it was created and last used; never the token itself.",
    examples: ["token list --json"],
    define: (command) => command.option(...ANSWER_FLAG).action(lazily(async () => (await tokens()).listNamedTokens)),
  },
  {
    path: "token revoke",
    group: OPERATE,
    description: "Revoke a token. Running servers reject it at once.",
    examples: ["token revoke anna"],
    define: (command) =>
      command
        .option(...ANSWER_FLAG)
        .argument("<name>", "the name whose token is revoked")
        .action(lazily(async () => (await tokens()).revokeNamedToken)),
  },
  {
    path: "export",
    group: OPERATE,
    summary: "Export everything as one archive",
    description:
      "Write all runs that have ended to one ZIP archive, or those of a list: a folder for each with its report and pictures as save writes them, and run.json, from which import restores it. Conversations are exported whole. Free and local.",
    examples: ["export", "export --tag heating -o heating.zip", "export heat pump"],
    seeAlso: ["import", "save"],
    define: exporting,
  },
  {
    path: "import",
    group: OPERATE,
    summary: "Import reports and archives",
    description:
      "Import Markdown reports, such as those of ChatGPT, Perplexity and Gemini, as finished runs, or restore the runs of an exported archive. Runs that are there already stay as they are. Free and local.",
    examples: ["import report.md", "import 'Research 2026-11-19.zip'"],
    seeAlso: ["export", "list"],
    define: (command) =>
      answering(command)
        .argument("<files...>", "Markdown files, and archives that export has written")
        .action((files: string[], { json = false }: Flags) =>
          run(importLibrary, { input: { files }, json, view: importedView }),
        ),
  },
  {
    path: "migrate",
    group: OPERATE,
    summary: "Migrate to PostgreSQL",
    description: "Copy everything from the database file to PostgreSQL, for use on several machines, and compare both.",
    examples: ["migrate --to -"],
    seeAlso: ["doctor"],
    define: (command) =>
      command
        .option("--from <file>", "the database file (default: the one in use)")
        .option("--to <url>", "postgres://user:password@host/database, or -; unset: GEMINI_SEARCH_DATABASE_URL")
        .option("--force", "migrate even if other processes seem to use the file or the target")
        .option(...ANSWER_FLAG)
        .addHelpText("after", MIGRATE_HELP)
        .action(async ({ from, to, force = false, json = false }: MigrateFlags) => {
          const { runMigrate } = await import("./commands/migrate.ts");
          await runMigrate({ from, to, force, json });
        }),
  },
  {
    path: "demo",
    group: OPERATE,
    summary: "Try it without a key",
    description: "Try it without a key: a simulated research in ten seconds, then its report in the browser.",
    examples: ["demo"],
    seeAlso: ["doctor"],
    define: (command) =>
      command
        .argument("[question...]", "a question of your own; its report is invented")
        .option("--no-open", "print the link instead of opening it")
        .action(async (words: string[], { open }: { open: boolean }) =>
          (await import("./commands/demo.ts")).runDemo(words.join(" "), { open }),
        ),
  },
  {
    path: "completion",
    group: OPERATE,
    summary: "Completion for your shell",
    description: "Print a script that completes commands, options, their values and the ids of your newest runs.",
    examples: ["completion bash", "completion zsh", "completion fish"],
    define: (command) =>
      command
        .addArgument(new Argument("<shell>", "which shell").choices(SHELLS))
        .addHelpText("after", INSTALL_COMPLETION)
        .action((shell: Shell) => print(completionScript(shell, command.parent?.name() ?? ""))),
  },
];

/** A spelling of an earlier version, which scripts may still use. It is not listed. */
export interface OldSpelling {
  path: string;
  /** The command that has taken its place. */
  now: string;
  /** Where it takes other arguments, or does less. */
  define?: CommandEntry["define"];
  /** Where no command does the same. */
  description?: string;
}

export const OLD_SPELLINGS: readonly OldSpelling[] = [
  { path: "ask", now: "search" },
  { path: "verify", now: "deep-search" },
  { path: "find", now: "list" },
  { path: "figures", now: "costs" },
  {
    path: "deep-research",
    now: "search",
    description: "Write a quick report in one round, as the first version did. For Google's Deep Research: research",
    define: operationCommand(CATALOG.deep_research, {
      fields: { topic: "what the report is about", depth: "concise: one page; detailed: sections and comparisons" },
      view: async (output, space) => (await results()).deepResearchView(output, space),
    }),
  },
  {
    path: "check-research-status",
    now: "watch",
    define: operationCommand(CATALOG.check_research_status, {
      fields: {
        wait_seconds: "wait up to this many seconds, 0 to 50, for news",
        cursor: "cursor from the previous answer (--json shows it)",
      },
      view: statusView,
    }),
  },
  {
    path: "stop",
    now: "cancel",
    define: operationCommand(CATALOG.cancel_research, {
      fields: {
        save_partial: "discard what was found so far",
        delete: "delete the run with its report",
        delete_at_google: "with --delete: delete Google's copy, too",
      },
      confirm: confirmStop,
      view: cancelledView,
    }),
  },
  { path: "resume", now: "retry", define: operationCommand(CATALOG.resume_research, RESUMING) },
  {
    path: "rename",
    now: "edit",
    define: (command) =>
      onRun(command)
        .argument("<title...>", "the title, at most 200 characters")
        .action((task_id: string, words: string[], { json = false }: Flags) =>
          run(organizeRun, { input: { task_id, title: words.join(" ") }, json, view: organizedView }),
        ),
  },
  { path: "star", now: "edit", define: marking({ starred: true }) },
  { path: "unstar", now: "edit", define: marking({ starred: false }) },
  { path: "archive", now: "edit", define: marking({ archived: true }) },
  { path: "unarchive", now: "edit", define: marking({ archived: false }) },
  {
    path: "dashboard",
    now: "open",
    define: (command) =>
      showingPage(atAddress(command).option("--run <run>", "show this run first")).action(
        ({ run: name, ...flags }: PageFlags & { run?: string }) =>
          openDashboard(name === undefined ? undefined : { name }, flags),
      ),
  },
];
