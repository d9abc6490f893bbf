/**
 * What each command is, in one place: the help, the completion scripts and the list of commands are derived from it.
 * Arguments and flags are defined with the code that reads them.
 */

export interface CommandFacts {
  /** Its heading in the list of commands. */
  group: string;
  /** For the list of commands, where the description is longer than a line. */
  summary?: string;
  description: string;
  examples: string[];
  /** Related commands. */
  seeAlso?: string[];
}

const ASK = "Ask:";
const RESEARCH = "Long research:";
const READ = "Your research:";
const SERVE = "Serve:";
export const SET_UP = "Set up:";

const ID = "3f2a9c1e";

/** By command path. */
export const COMMAND_FACTS: Readonly<Record<string, CommandFacts>> = {
  ask: {
    group: ASK,
    summary: "Answer from the web in seconds",
    description: "Answer a question from the web: Gemini searches, reads pages and answers with sources. About a cent.",
    examples: ["ask which heat pump is quietest", "ask - --json < question.txt"],
    seeAlso: ["verify", "find"],
  },
  verify: {
    group: ASK,
    summary: "Verified answer in minutes",
    description:
      "Research a question from five perspectives, then check and correct the answer until a round confirms it. 1 to 10 minutes, a few cents per round.",
    examples: ["verify how do heat pumps perform in cold climates --max-iterations 3"],
    seeAlso: ["ask", "research"],
  },
  "deep-research": {
    group: RESEARCH,
    summary: "Report without verification (legacy)",
    description: "Legacy: a report in a single pass, without verification. Prefer verify, or ask.",
    examples: ['deep-research "Heat pumps in cold climates" --depth concise'],
    seeAlso: ["verify", "research"],
  },
  research: {
    group: ASK,
    summary: "Long report in up to an hour",
    description:
      "Start Google's Deep Research and watch it: a long report with citations, for broad or difficult questions. 5 to 60 minutes, about $1 to $10. It continues at Google when you leave.",
    examples: ["research heat pumps in Norway --no-wait", "research --file offer.pdf is this a fair price"],
    seeAlso: ["watch", "estimate", "stop"],
  },
  estimate: {
    group: RESEARCH,
    summary: "Price and time before you start",
    description: "Estimate what Deep Research on a question costs and how long it takes. Free, works without a key.",
    examples: ["estimate heat pumps in Norway and Finland"],
    seeAlso: ["research", "figures"],
  },
  "check-research-status": {
    group: RESEARCH,
    summary: "Show the progress of a run",
    description: "Show status, progress, cost and current action of a run. Free and local.",
    examples: [`check-research-status ${ID}`, `check-research-status ${ID} --wait-seconds 45 --json`],
    seeAlso: ["watch", "show"],
  },
  stop: {
    group: RESEARCH,
    summary: "Stop a run for good",
    description:
      "Stop a run for good, here and at Google; paid research only after confirmation. Finished rounds and text that has arrived are kept, but research writes its text at the end. What Google has charged stays charged.",
    examples: [`stop ${ID}`],
    seeAlso: ["resume", "delete"],
  },
  followup: {
    group: ASK,
    summary: "Ask about a finished report",
    description:
      "Ask a further question about a finished run and watch the answer come. Google continues its own research; where it cannot, the stored report is sent along. About a minute, a few cents.",
    examples: [`followup ${ID} and what about apartments`, `followup ${ID} "Which of these is cheapest?" --json`],
    seeAlso: ["show", "research"],
  },
  resume: {
    group: RESEARCH,
    summary: "Check a failed run again, or continue it",
    description:
      "Resume a run that failed or was interrupted: check a failed research again (free), continue a verification at its next round (cents), or resolve an unconfirmed start. Never charges twice without your consent. Research that was stopped cannot be resumed.",
    examples: [`resume ${ID}`, `resume ${ID} --interaction-id v1_abc`],
    seeAlso: ["list", "watch"],
  },
  list: {
    group: READ,
    summary: "List your runs",
    description: "List your runs, newest first. When piped: tab-separated id, status, kind, start, cost and question.",
    examples: ["list", "list --status completed --limit 100", "list --starred", "list --archived", "list | cut -f1,6"],
    seeAlso: ["find", "show", "archive"],
  },
  show: {
    group: READ,
    summary: "Show a report",
    description:
      "Show the report of a run: in full, or as far as it got when it failed or was stopped. Free and local.",
    examples: [`show ${ID}`, `show ${ID} --section outline`],
    seeAlso: ["save", "open", "list"],
  },
  check: {
    group: READ,
    summary: "Check a report against its sources",
    description:
      "Fetch the pages that a report cites and compare each with what the report says. Pages that were checked within a day are not fetched again. Free, unless a judge is configured. docs/google-terms.md explains what Google's terms say about it.",
    examples: [`check ${ID}`, `check ${ID} --source 3 --refetch`],
    seeAlso: ["show", "save"],
  },
  save: {
    group: READ,
    summary: "Save a report, table or sources",
    description:
      "Save the report of a run as a Markdown file with metadata and numbered sources, its sources for a reference manager, or its table. Never overwrites.",
    examples: [`save ${ID}`, `save ${ID} --output-dir reports`, `save ${ID} --format bibtex`],
    seeAlso: ["show"],
  },
  watch: {
    group: RESEARCH,
    summary: "Watch a run until it ends",
    description: "Show a run live until it ends, then print its report. Ctrl-C leaves; the run continues.",
    examples: [`watch ${ID}`],
    seeAlso: ["show", "stop"],
  },
  find: {
    group: READ,
    summary: "Find runs by words",
    description:
      "Find runs by words in their titles, questions and reports, best matches first. Quotation marks keep words together.",
    examples: ["find heat pump", 'find "cold climates" --json'],
    seeAlso: ["show"],
  },
  table: {
    group: ASK,
    summary: "Make a table of a report",
    description:
      "Make a table of a finished report: every cell with its sources, or marked as not found. A model reads the stored report, for cents; the price is printed first. A table that was made before is free.",
    examples: [
      `table ${ID} Maker Price "Noise at night" --rows "one row per heat pump"`,
      `table ${ID} Maker Price --csv > pumps.csv`,
    ],
    seeAlso: ["followup", "save"],
  },
  plan: {
    group: RESEARCH,
    summary: "Show or change a plan",
    description:
      "Show the plan of a research that waits for approval, or change it with --edit, for cents. At a terminal you can approve or change it there.",
    examples: [`plan ${ID}`, `plan ${ID} --edit "leave out Asia"`],
    seeAlso: ["approve", "stop"],
  },
  approve: {
    group: RESEARCH,
    summary: "Approve a plan and start the research",
    description:
      "Start the research that a plan describes, and watch it. About $1 to $10; the plan shows what it will probably cost. Approving twice starts it once.",
    examples: [`approve ${ID}`, `approve ${ID} --no-wait --yes`],
    seeAlso: ["plan", "watch"],
  },
  rename: {
    group: READ,
    summary: "Give a run a title",
    description: 'Give a run a title, which the list shows instead of its question. "" shows the question again.',
    examples: [`rename ${ID} heat pumps for our house`, `rename ${ID} ""`],
    seeAlso: ["star", "archive"],
  },
  star: {
    group: READ,
    summary: "Star a run",
    description: "Star a run; list --starred shows it.",
    examples: [`star ${ID}`],
    seeAlso: ["unstar", "list"],
  },
  unstar: {
    group: READ,
    summary: "Remove a star",
    description: "Remove a run's star.",
    examples: [`unstar ${ID}`],
    seeAlso: ["star"],
  },
  archive: {
    group: READ,
    summary: "Hide a finished run from the list",
    description:
      "Hide a finished run from the list, here and on the dashboard. It still appears in list --archived and in find.",
    examples: [`archive ${ID}`],
    seeAlso: ["unarchive", "list", "delete"],
  },
  unarchive: {
    group: READ,
    summary: "Return a run to the list",
    description: "Return an archived run to the list.",
    examples: [`unarchive ${ID}`],
    seeAlso: ["archive"],
  },
  delete: {
    group: READ,
    summary: "Delete a run for good",
    description:
      "Delete a run with its report, sources and timeline; one that is running is stopped first. Saved files are kept. Asks for confirmation.",
    examples: [`delete ${ID}`, `delete ${ID} --at-google --yes`],
    seeAlso: ["archive", "stop"],
  },
  figures: {
    group: READ,
    summary: "Usage by month and kind",
    description: "Show the cost and average time of finished runs by month and by kind.",
    examples: ["figures", "figures --json"],
    seeAlso: ["estimate"],
  },
  worker: {
    group: SERVE,
    summary: "Collect results in the background",
    description: "Collect unfinished research in the background, with no client open, and notify you when it is done.",
    examples: ["worker", "worker --until-idle"],
    seeAlso: ["list"],
  },
  serve: {
    group: SERVE,
    summary: "Serve MCP over HTTP",
    description: "Serve the tools and the dashboard over HTTP (MCP Streamable HTTP at /mcp) to any number of clients.",
    examples: ["serve", "serve --port 3100"],
    seeAlso: ["token", "worker"],
  },
  dashboard: {
    group: SERVE,
    summary: "Open the dashboard in the browser",
    description:
      "Open the dashboard, starting a server if none is running: research, reports and costs in the browser.",
    examples: ["dashboard", "dashboard --no-open --json"],
    seeAlso: ["serve"],
  },
  open: {
    group: READ,
    summary: "Open a run in the browser",
    description: "Open the dashboard in the browser, on a run if you name one.",
    examples: ["open", `open ${ID}`],
    seeAlso: ["show", "dashboard"],
  },
  status: {
    group: SERVE,
    summary: "Show workers and polls",
    description: "Show workers, runs in progress, polls and errors, and what to do if runs are polled late.",
    examples: ["status", "status --json"],
    seeAlso: ["worker", "doctor"],
  },
  doctor: {
    group: SET_UP,
    summary: "Check this installation",
    description:
      "Check this installation (Node, database, key, network, assistants …) and show how to fix what is wrong.",
    examples: ["doctor", "doctor --offline --json"],
    seeAlso: ["demo"],
  },
  demo: {
    group: SET_UP,
    summary: "Try it without a key",
    description: "Try it without a key: a simulated research in ten seconds, then its report on the dashboard.",
    examples: ["demo"],
    seeAlso: ["doctor"],
  },
  init: {
    group: SET_UP,
    summary: "Connect your AI assistant",
    description: "Connect your AI assistants: tests your key, shows every change, asks before writing, keeps backups.",
    examples: ["init", "init claude-code codex --yes", "init --dry-run"],
    seeAlso: ["doctor"],
  },
  token: {
    group: SERVE,
    summary: "Manage access tokens",
    description: "Manage access tokens for the server. Each name has a token and runs of its own.",
    examples: ["token add anna", "token list"],
    seeAlso: ["serve"],
  },
  "token add": {
    group: SERVE,
    description: "Create a token for a name and print it once.",
    examples: ["token add anna"],
  },
  "token list": {
    group: SERVE,
    description: "List the names with a token, when it was created and last used; never the token itself.",
    examples: ["token list --json"],
  },
  "token revoke": {
    group: SERVE,
    description: "Revoke a token. Running servers reject it at once.",
    examples: ["token revoke anna"],
  },
  migrate: {
    group: SET_UP,
    summary: "Migrate to PostgreSQL",
    description: "Copy everything from the database file to PostgreSQL, for use on several machines, and compare both.",
    examples: ["migrate --dry-run", "migrate --to -"],
    seeAlso: ["doctor"],
  },
  completion: {
    group: SET_UP,
    summary: "Completion for your shell",
    description: "Print a script that completes commands, options, their values and the ids of your newest runs.",
    examples: ["completion bash", "completion zsh", "completion fish"],
  },
};
