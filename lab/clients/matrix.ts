/** Renders the verdicts as a document: outcomes, client characteristics, and method. */

import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";
import type { Client } from "./client.ts";
import type { Verdict } from "./judge.ts";

interface Circumstances {
  clients: readonly Client[];
  command: string;
  patienceSeconds: number;
  /** Lengths of the two reports in characters. */
  usual: number;
  long: number;
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll(/\s+/g, " ").replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(columns), line(columns.map(() => "---")), ...rows.map(line)].join("\n");
}

function commit(): string {
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8" });
  try {
    const id = git("rev-parse", "--short", "HEAD").trim();
    return git("status", "--porcelain").trim() === "" ? id : `${id} with changes`;
  } catch {
    return "unknown";
  }
}

const unique = (values: readonly string[]): string => [...new Set(values)].join("; ");

function outcomes(verdicts: readonly Verdict[]): string {
  return table(
    ["Client", "Transport", "Scenario", "Result", "Seconds", "Paid starts", "Report read", "Calls of its model"],
    verdicts.map((one) => [
      one.client,
      one.transport,
      one.scenario,
      one.reason === "" ? one.result : `**${one.result}**: ${one.reason}`,
      String(one.seconds),
      String(one.paidStarts),
      one.report,
      one.calls,
    ]),
  );
}

/** One row per client and transport, from all its trials. */
function manners(verdicts: readonly Verdict[]): string {
  const groups = Map.groupBy(verdicts, ({ client, transport }) => `${client} ${transport}`);
  return table(
    [
      "Client",
      "Transport",
      "Protocol",
      "Calls with progress token",
      "Progress sent",
      "Our tools, to its model",
      "Model reads",
      "Seen",
    ],
    [...groups.values()].map((group) => [
      unique(group.map(({ client }) => client)),
      unique(group.map(({ transport }) => transport)),
      unique(group.map(({ protocol }) => protocol)),
      group.map(({ progressTokens }) => progressTokens).join(", "),
      group.map(({ progress }) => progress).join(", "),
      unique(group.map(({ tools }) => tools)),
      unique(group.map(({ form }) => form)),
      unique(group.flatMap(({ notes }) => notes)),
    ]),
  );
}

export function page(verdicts: readonly Verdict[], around: Circumstances): string {
  const { platform, arch, versions } = process;
  const packages = around.clients.map((client) => `${client.package} ${client.version}`).join(", ");
  return `# Clients

Real clients, headless unless said otherwise, each with a scripted model of its own API on loopback, this server, and a simulated Google. They run in an empty home, without an account, and their proxy variables lead to a proxy that refuses everything; what ignores them is not seen. Limits and settings are the clients' own defaults, except that tools need no approval, and that Codex is told to wait for the server (\`required\`) and takes the model name gpt-5.5, whose limits it knows.

\`${around.command}\`, ${new Date().toISOString().slice(0, 10)}, commit ${commit()}, Node ${versions.node}, ${platform} ${arch}, ${availableParallelism()} cores. ${packages}.

- **research**: \`start_deep_research\`, \`check_research_status\` until it is completed, \`get_research_results\`. The research takes 45 s, the report has ${around.usual.toLocaleString("en")} characters.
- **long-report**: the same with ${around.long.toLocaleString("en")} characters.
- **patient**: one \`deep_search\` that lasts ${around.patienceSeconds} s.
- **impatient**: the client is killed (SIGKILL) 2 s after Google took the research, before the call was answered; a new process of it finds the run with \`list_research\` and reads it.
- **interactive**: the client in a real terminal (tmux), as a person uses it: a question is typed, its model calls \`search\` once. The answer must come in the same turn; the headless trials do not show it when a call is moved to the background.

A pass means: the client ended with its model's answer, the model had read every line of the report, and Google's ledger shows exactly one paid start (none for \`deep_search\`). *cut* means that all went well, but the client gave its model a part of the report only.

## What happened

${outcomes(verdicts)}

## What the clients are like

${manners(verdicts)}
`;
}
