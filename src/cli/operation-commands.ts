/** The operations as commands: their names, flags and views; what each command is stands in command-facts.ts. */

import type { Command } from "commander";
import { CATALOG } from "../operations/catalog.ts";
import { listLibrary } from "../operations/list-research.ts";
import type { TerminalView } from "./render/answer-view.ts";
import type { RunList } from "./render/list-view.ts";
import { addOperation } from "./operation-command.ts";

/** Loaded when an answer is shown: every command loads this file. */
const results = () => import("./render/answers/results-view.ts");
const citations = () => import("./render/answers/citations-view.ts");
const runs = () => import("./render/answers/run-views.ts");

export const listTable: TerminalView<RunList> = async (list, space) => {
  const { listView } = await import("./render/list-view.ts");
  return listView(list, space);
};

const RUN = "run id, or its first 6 or more characters";
const QUESTION = "your question, with or without quotation marks";
const AGENT = "the agent; deep-research-max-preview-04-2026 is more thorough";

/** Flags of the three depths. */
const WISHES = {
  language: "language of the answer, such as de or German",
  length: "short, medium, long or a number of words",
  prefer_domains: "prefer sources from these sites, separated by commas",
  avoid_domains: "avoid sources from these sites",
  since: "prefer sources from this date on (2025, 2025-03 or 2025-03-14)",
  until: "prefer sources up to this date",
};

export function addOperations(program: Command): void {
  addSearches(program);
  addResearch(program);
  addFollowup(program);
  addResume(program);
  addReading(program);
  addUsing(program);
}

function addSearches(program: Command): void {
  addOperation(program, CATALOG.search, {
    name: "ask",
    alias: "search",
    fields: { query: QUESTION, ...WISHES },
    view: async (output, space) => (await results()).searchView(output, space),
  });
  addOperation(program, CATALOG.deep_search, {
    name: "verify",
    alias: "deep-search",
    fields: { query: QUESTION, max_iterations: "maximum number of rounds, 2 to 20 (default 5)", ...WISHES },
    view: async (output, space) => (await results()).deepSearchView(output, space),
  });
  addOperation(program, CATALOG.deep_research, {
    name: "deep-research",
    fields: { topic: "what the report is about", depth: "concise: one page; detailed: sections and comparisons" },
    view: async (output, space) => (await results()).deepResearchView(output, space),
  });
}

function addResearch(program: Command): void {
  addOperation(program, CATALOG.start_deep_research, {
    name: "research",
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
    waitsOnTerminal: true,
    view: async (output, space) => (await runs()).startedView(output, space),
  });
  addOperation(program, CATALOG.estimate_research_cost, {
    name: "estimate",
    fields: { query: QUESTION, model: AGENT },
    view: async (output, space) => (await runs()).estimateView(output, space),
  });
  addOperation(program, CATALOG.check_research_status, {
    name: "check-research-status",
    fields: {
      task_id: RUN,
      wait_seconds: "wait up to this many seconds, 0 to 50, for news",
      cursor: "cursor from the previous answer (--json shows it)",
    },
    view: async (output, space) => (await runs()).statusView(output, space),
  });
  addOperation(program, CATALOG.cancel_research, {
    name: "stop",
    fields: {
      task_id: RUN,
      save_partial: "discard what was found so far",
      delete: "delete the run with its report",
      delete_at_google: "with --delete: delete Google's copy, too",
    },
    confirm: async (deps, asked) =>
      asked.input["delete"] === true
        ? (await import("./commands/delete-run.ts")).confirmDeletion(deps, asked)
        : (await import("./confirm.ts")).confirmStop(deps, asked),
    view: async (output, space) => (await runs()).cancelledView(output, space),
  });
}

function addResume(program: Command): void {
  addOperation(program, CATALOG.resume_research, {
    name: "resume",
    fields: {
      task_id: RUN,
      interaction_id: "adopt the interaction with this id, which AI Studio shows, for an unconfirmed start",
      accept_possible_double_charge: "start again although the first start may be running and charged",
      approve: "start the research of a plan, like the command approve",
      plan_edit: "what to change in the plan, like plan --edit",
      plan_turn: "the number of the plan that you saw; any other is refused",
    },
    view: async (output, space) => (await runs()).resumedView(output, space),
  });
}

function addFollowup(program: Command): void {
  addOperation(program, CATALOG.ask_followup, {
    name: "followup",
    fields: {
      task_id: RUN,
      question: QUESTION,
      wait: "return as soon as it is started",
      columns: "answer with a table that has this column, like the command table; repeatable",
    },
    runFirst: true,
    waitsOnTerminal: true,
    view: async (output, space) => (await runs()).followupView(output, space),
  });
}

function addReading(program: Command): void {
  addOperation(program, listLibrary, {
    name: "list",
    fields: {
      status: "only runs with this status",
      kind: "only this kind; agent is Deep Research",
      text: "only runs with these words in question or report",
      limit: "maximum number of runs, 1 to 100 (default 20)",
      cursor: "continue after the page that ended with this cursor",
      starred: "only starred runs",
      archived: "only archived runs, which are hidden otherwise",
    },
    view: listTable,
  });
  addOperation(program, CATALOG.get_research_results, {
    name: "show",
    fields: {
      task_id: RUN,
      include_sources: "leave out the sources",
      section: "outline, all, sources, or a section of the outline such as 2.1",
      as: "table: show a table that was made of the report",
      columns: "with --as table: a column of that table; repeatable",
    },
    view: async (output, space) => (await results()).resultsView(output, space),
  });
}

/** What is done with a report. */
function addUsing(program: Command): void {
  addOperation(program, CATALOG.verify_citations, {
    name: "check",
    fields: {
      task_id: RUN,
      numbers: "only this source, with the passages that were found; repeatable, or separated by commas",
      refetch: "fetch pages again that were checked within the last day",
    },
    view: async (output, space) => (await citations()).citationsView(output, space),
  });
  addOperation(program, CATALOG.save_research_to_markdown, {
    name: "save",
    fields: {
      task_id: RUN,
      output_dir: "directory, created if needed (default: RESEARCH_REPORTS_DIR, else ./research_reports)",
      filename_prefix: "beginning of the file name (default research)",
      include_metadata: "leave out model, times, tokens and cost",
      include_sources: "leave out the sources",
      format:
        "md (default): the report; bibtex, ris or csl: its sources for a reference manager; csv or json: its table",
    },
    defaults: { format: ["md", "markdown"] },
    view: async (output, space) => (await runs()).savedView(output, space),
  });
}
