/** Names and explanations of the actions on a run. */

import type { RunAction, RunLive } from "../../../operations/view/run-view.ts";
import { markedMoney, money } from "../ui/format.ts";

interface ActionText {
  name: string;
  /** Shown while the action is in progress. */
  pendingName: string;
  /** Shown beside a button that acts immediately, or in the confirmation dialog. */
  explanation: string;
  tone: "primary" | "danger" | "plain";
  /** The dialog that asks for confirmation, if any. */
  confirmation?: { title: string; yes: string; no: string };
}

type Known = Pick<RunLive, "kind" | "status" | "cost_usd" | "cost_incomplete" | "cost_estimated" | "estimate">;

const TEXTS: Record<RunAction, (run: Known) => ActionText> = {
  cancel: (run) => ({
    name: "Cancel…",
    pendingName: "Cancelling…",
    explanation: cancelCharges(run),
    tone: "danger",
    confirmation: { title: "Cancel this run?", yes: "Cancel the run", no: "Let it run" },
  }),
  poll_again: () => ({
    name: "Check again",
    pendingName: "Checking…",
    explanation: "See if Google has the report now. Free.",
    tone: "primary",
  }),
  continue: () => ({
    name: "Continue",
    pendingName: "Continuing…",
    explanation: "Picks up at the next round. A few cents per round.",
    tone: "primary",
  }),
  adopt: () => ({
    name: "Use Google's run…",
    pendingName: "Reading it…",
    explanation:
      "Look in Google AI Studio first: if its logs list this question, use that run here. Free, and its report is kept.",
    tone: "primary",
    confirmation: { title: "Use the run that Google shows", yes: "Use this run", no: "Not now" },
  }),
  delete: () => ({
    name: "Delete…",
    pendingName: "Deleting…",
    explanation:
      "The question, the report, its sources and its timeline are permanently deleted. Files that were saved or downloaded stay where they are.",
    tone: "plain",
    confirmation: { title: "Delete this run?", yes: "Delete for good", no: "Keep it" },
  }),
  restart: (run) => ({
    name: "Start again…",
    pendingName: "Starting…",
    explanation: doubleChargeWarning(run),
    tone: "danger",
    confirmation: { title: "Start it again?", yes: "Start again", no: "Not now" },
  }),
};

export const actionText = (action: RunAction, run: Known): ActionText => TEXTS[action](run);

/** Google charges dollars for a research, and a cancelled one has no report. */
function cancelCharges(run: Known): string {
  if (run.kind !== "agent") return "The run stops at its next step. You pay for what it has used so far.";
  const { status, cost_usd: cost, estimate } = run;
  const likely = estimate?.likely_usd;
  const spent =
    cost !== undefined
      ? ` (${markedMoney(cost, run)})`
      : likely === undefined
        ? ""
        : ` (about ${money(likely)} at its end)`;
  return status === "start_unknown"
    ? `Google may have started it${spent}. If it did, you pay for it and get no report.`
    : `You pay what it has cost so far${spent} and get no report, unless Google finishes it anyway.`;
}

function doubleChargeWarning({ estimate }: Known): string {
  const likely = estimate?.likely_usd;
  const cost = likely === undefined ? "" : ` The second run will probably cost ${money(likely)}.`;
  return `The first run may already be in progress. Starting again could charge you twice.${cost}`;
}
