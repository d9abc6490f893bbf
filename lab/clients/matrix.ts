/** Renders the verdicts as a document: outcomes, client characteristics, and method. */

import { circumstances } from "../../scripts/circumstances.ts";
import type { Client } from "./client.ts";
import type { Verdict } from "./judge.ts";

interface Setting {
  clients: readonly Client[];
  command: string;
  callSeconds: number;
  /** Lengths of the two reports in characters. */
  usual: number;
  long: number;
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll(/\s+/g, " ").replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(columns), line(columns.map(() => "---")), ...rows.map(line)].join("\n");
}

const unique = (values: readonly string[]): string => [...new Set(values)].join("; ");

const each = (values: readonly unknown[]): string => values.join(", ");

const outcome = ({ result, reason }: Verdict): string => (reason === "" ? result : `**${result}**: ${reason}`);

/** One row per client and scenario, with both transports. */
function outcomes(verdicts: readonly Verdict[]): string {
  const groups = Map.groupBy(verdicts, ({ client, scenario }) => `${client} ${scenario}`);
  return table(
    ["Client", "Scenario", "Transport", "Result", "Seconds", "Paid starts", "Report read", "Calls of its model"],
    [...groups.values()].map((group) => [
      unique(group.map(({ client }) => client)),
      unique(group.map(({ scenario }) => scenario)),
      each(group.map(({ transport }) => transport)),
      unique(group.map(outcome)),
      each(group.map(({ seconds }) => seconds)),
      each(group.map(({ paidStarts }) => paidStarts)),
      unique(group.map(({ report }) => report)),
      unique(group.map(({ calls }) => calls)),
    ]),
  );
}

/** One row per client and transport, from all its trials. */
function characteristics(verdicts: readonly Verdict[]): string {
  const groups = Map.groupBy(verdicts, ({ client, transport }) => `${client} ${transport}`);
  return table(
    [
      "Client",
      "Transport",
      "Protocol",
      "Calls with progress token",
      "Progress sent",
      "Our tools, to its model",
      "Lines of our instructions, to its model",
      "Model reads",
      "Seen",
    ],
    [...groups.values()].map((group) => [
      unique(group.map(({ client }) => client)),
      unique(group.map(({ transport }) => transport)),
      unique(group.map(({ protocol }) => protocol)),
      each(group.map(({ progressTokens }) => progressTokens)),
      each(group.map(({ progress }) => progress)),
      unique(group.map(({ tools }) => tools)),
      unique(group.map(({ instructions }) => instructions)),
      unique(group.map(({ form }) => form)),
      unique(group.flatMap(({ notes }) => notes)),
    ]),
  );
}

export function page(verdicts: readonly Verdict[], setting: Setting): string {
  const { date, commit, machine } = circumstances();
  const packages = setting.clients.map((client) => `${client.package} ${client.version}`).join(", ");
  return `## Headless trials

Real clients, headless unless noted otherwise, each with a scripted model of its own API on loopback, this server, and a simulated Google. They run in an empty home directory, without an account, and their proxy variables point to a proxy that rejects everything; requests that ignore these variables are not detected. Limits and settings are the clients' defaults, except that tools need no approval, and that Codex is configured to wait for the server (\`required\`) and to use the model name gpt-5.5, whose limits it knows.

\`${setting.command}\`, ${date}, commit ${commit}, ${machine}. ${packages}.

- **research**: \`start_deep_research\`, \`check_research_status\` until it is completed, \`get_research_results\`. The research takes 45 s, the report has ${setting.usual.toLocaleString("en")} characters.
- **long-report**: the same with ${setting.long.toLocaleString("en")} characters.
- **unknown-client**: \`research\` without the name of the client, so that the server returns the report whole, and the client cuts what is too long for it.
- **blocking**: one \`deep_search\` that lasts ${setting.callSeconds} s.
- **client-killed**: the client is killed (SIGKILL) 2 s after Google accepted the research, before the call returned; a new process of it finds the run with \`list_research\` and reads it.
- **interactive**: the client in a real terminal (tmux), as a person uses it: a question is typed, its model calls \`search\` once. The answer must appear in the same turn; the headless trials do not show whether a call is moved to the background.
- **conversation**: a plan is asked for, changed and approved; the report is read, a follow-up asked, a table's price read and the table made. Google's ledger must show one paid start for each of the five.

A pass means: the client ended with its model's answer, the model had read every line of the report, and Google's ledger shows exactly one paid start (none for \`deep_search\`, five for a conversation). *cut* means that everything worked, but the client passed only a part of the report to its model.

### Outcomes

${outcomes(verdicts)}

### Characteristics of the clients

${characteristics(verdicts)}
`;
}
