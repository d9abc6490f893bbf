/** Judges a trial: whether the answer arrived complete, in which form, and at what cost. */

import type { Exchange } from "./model-api.ts";
import { conversationFailure, PAID_STARTS } from "./conversation.ts";
import { isNamed, finalAnswer, READ } from "./script.ts";
import type { Model } from "./model.ts";
import type { Session } from "./session.ts";
import type { Trial } from "./trial.ts";
import { wireFacts, type WireFacts } from "./wire.ts";
import type { World } from "./world.ts";

export interface Verdict {
  client: string;
  transport: string;
  scenario: string;
  /** `cut`: everything worked, but the client showed its model only a part of the report. */
  result: "pass" | "cut" | "fail";
  /** Empty for a pass. */
  reason: string;
  seconds: number;
  paidStarts: number;
  protocol: string;
  /** Calls with a progress token, out of all calls. */
  progressTokens: string;
  progress: number;
  /** How the client names our tools to its model, and how many it offers. */
  tools: string;
  /** How many lines of our instructions the model received before its first call. */
  instructions: string;
  /** Which part of a result with text and structured content the model sees. */
  form: string;
  report: string;
  calls: string;
  notes: string[];
}

export interface Evidence {
  trial: Trial;
  world: World;
  session: Session;
  end: { code: number | null; seconds: number };
  /** Processes that did not exit on their own. */
  left: number;
}

/** Compares letters only: JSON escapes and line breaks are ignored. */
const letters = (text: string): string => text.replaceAll(/\\+[nrt"]|[\s"\\]/g, "");

const COMPLAINT = /loop detected|timed out|"type":"error"|^error/i;

/** The line that states the reason, if there is one; otherwise the last lines. */
function failureReason(output: string): string {
  const complaint = output.split("\n").findLast((line) => COMPLAINT.test(line));
  return (complaint ?? output).trim().replaceAll(/\s+/g, " ").slice(-200);
}

function formOf([first]: readonly Exchange[], { answers }: WireFacts): string {
  const answer = answers.findLast(({ tool }) => first !== undefined && isNamed(first.tool, tool));
  if (first === undefined || answer === undefined) return "nothing";
  const seen = letters(first.output);
  const forms = [
    ...(seen.includes(letters(JSON.stringify(answer.structured))) ? ["structured"] : []),
    ...(seen.includes(letters(answer.text)) ? ["text"] : []),
  ];
  return forms.join(" and ") || "neither verbatim";
}

/** The report as our server sent it, in one response or several; empty if the last response had none. */
function sentReport({ answers }: WireFacts): string {
  const read = answers.filter(({ tool }) => tool === READ);
  return (read.length > 0 ? read : answers.slice(-1))
    .map(({ structured }) => structured["report"] ?? structured["result"])
    .filter((text) => typeof text === "string")
    .join("");
}

/** Line by line, because clients also truncate in the middle. */
function readLines(sent: string, exchanges: readonly Exchange[]): { read: number; lines: number } {
  const read = exchanges.filter(({ tool }) => isNamed(tool, READ));
  const seen = letters((read.length > 0 ? read : exchanges.slice(-1)).map(({ output }) => output).join(""));
  const lines = sent.split("\n").map(letters);
  const full = lines.filter((line) => line !== "");
  return { read: full.filter((line) => seen.includes(line)).length, lines: full.length };
}

/** How much of the report the client has passed on; what it received last is the answer that it has cut. */
function cutAt({ read, lines }: { read: number; lines: number }, exchanges: readonly Exchange[]): string {
  const bytes = Buffer.byteLength(exchanges.at(-1)?.output ?? "").toLocaleString("en");
  return `its model read ${read} of ${lines} lines of the report, in an answer of ${bytes} bytes`;
}

/** In order, such as `3 × check_research_status`. */
function callsIn(exchanges: readonly Exchange[], names: readonly string[]): string {
  const runs: { name: string; count: number }[] = [];
  // One name may be the end of another.
  const longestFirst = names.toSorted((one, other) => other.length - one.length);
  for (const { tool } of exchanges) {
    const name = longestFirst.find((known) => isNamed(tool, known)) ?? tool;
    const last = runs.at(-1);
    if (last?.name === name) last.count += 1;
    else runs.push({ name, count: 1 });
  }
  return runs.map(({ name, count }) => (count === 1 ? name : `${count} × ${name}`)).join(", ");
}

function toolsIn({ session }: Evidence, { listed }: WireFacts): string {
  const offered = session.model.offered().map(({ name }) => name);
  const prefix = offered.flatMap((full) =>
    listed.filter((name) => isNamed(full, name)).map((name) => full.slice(0, -name.length)),
  )[0];
  if (prefix === undefined) return "none";
  return `${listed.filter((name) => offered.includes(`${prefix}${name}`)).length} of ${listed.length} as \`${prefix}…\``;
}

/** Letters only, because each client wraps and escapes them in its own way. */
export function instructionsIn(model: Model, { instructions }: WireFacts): string {
  const lines = instructions
    .split("\n")
    .map(letters)
    .filter((line) => line !== "");
  const read = model.opening().map((request) => {
    const seen = letters(request);
    return `${lines.filter((line) => seen.includes(line)).length} of ${lines.length}`;
  });
  return [...new Set(read)].join(", then ");
}

function failure({ trial, world, session, end }: Evidence, sent: string): string | undefined {
  const facts = wireFacts(world.wire());
  const exchanges = session.model.exchanges();
  const output = session.output();
  const how = `exit ${end.code}: ${failureReason(output)}`;
  const paid = world.gemini.ledger.acceptedStarts().length;
  const isConversation = trial.scenario === "conversation";
  const isResearch = trial.scenario !== "blocking" && trial.scenario !== "interactive" && !isConversation;
  const wanted = isConversation ? PAID_STARTS : isResearch ? 1 : 0;
  if (exchanges.length === 0) return `no tool result reached the model; ${how}`;
  if (paid !== wanted) return `${paid} paid starts instead of ${wanted}`;
  if (sent === "")
    return `it ended without the report; ${how}; its model last read: ${exchanges.at(-1)?.output.slice(0, 100)}`;
  if (isResearch && letters(sent) !== letters(trial.report)) return "a report that differs from the simulated one";
  const starts = world.gemini.ledger.acceptedStarts();
  const broken = isConversation ? conversationFailure({ starts, exchanges, facts }) : undefined;
  if (broken !== undefined) return broken;
  if (!output.includes(finalAnswer(exchanges.at(-1)?.output ?? ""))) return `the answer of its model was lost; ${how}`;
  if (IN_BACKGROUND.test(output)) return `a quick search was moved to the background: ${failureReason(output)}`;
  return undefined;
}

/** How Claude Code shows a call that became a task: the turn ends without an answer. */
const IN_BACKGROUND = /server-side task|moved to the background|task still running/;

/** Update checks of the clients; the name of a package registry must not appear in the results. */
const REGISTRY = /\bregistry\./;

function notesOn({ world, session, left }: Evidence, facts: WireFacts): string[] {
  const hosts = [...world.gate.requestedHosts].map((host) => (REGISTRY.test(host) ? "a package registry" : host));
  const outside = [...new Set(hosts)].sort();
  return [
    ...(session.model.searched() ? ["its model had to search for our tools before it could call them"] : []),
    ...(facts.cancelled > 0 ? [`cancelled while running: ${facts.cancelled}`] : []),
    ...(facts.cancelledLate > 0 ? ["cancels every call once more after its answer; without effect"] : []),
    ...(left > 0 ? [`${left} processes did not exit`] : []),
    ...(outside.length > 0 ? [`tried to reach ${outside.join(", ")}; rejected`] : []),
  ];
}

export function judge(evidence: Evidence): Verdict {
  const { trial, world, session, end } = evidence;
  const facts = wireFacts(world.wire());
  const exchanges = session.model.exchanges();
  const sent = sentReport(facts);
  const { read, lines } = readLines(sent, exchanges);
  const failed = failure(evidence, sent);
  const cut = failed === undefined && read < lines;
  return {
    client: trial.client.name,
    transport: trial.transport,
    scenario: trial.scenario,
    result: failed === undefined ? (cut ? "cut" : "pass") : "fail",
    reason: failed ?? (cut ? cutAt({ read, lines }, exchanges) : ""),
    seconds: Math.round(end.seconds),
    paidStarts: world.gemini.ledger.acceptedStarts().length,
    protocol: facts.protocol,
    progressTokens: `${facts.callsWithToken} of ${facts.calls}`,
    progress: facts.progress,
    tools: toolsIn(evidence, facts),
    instructions: instructionsIn(session.model, facts),
    form: formOf(exchanges, facts),
    report: lines === 0 ? "none" : read === lines ? "whole" : `${read} of ${lines} lines`,
    calls: callsIn(exchanges, facts.listed),
    notes: notesOn(evidence, facts),
  };
}
