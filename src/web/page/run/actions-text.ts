/** Names and explanations of the actions on a run. */

import type { RunAction, RunLive } from "../../../operations/view/run-view.ts";
import { money } from "../ui/format.ts";

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

type Known = Pick<RunLive, "kind" | "interaction_id" | "cost_usd" | "estimate">;

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
    name: "Link existing run…",
    pendingName: "Linking…",
    explanation:
      "Look in Google AI Studio first: if its logs list this question, link that run here. Free, and its report is kept.",
    tone: "primary",
    confirmation: { title: "Link a run from Google", yes: "Link run", no: "Not now" },
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

function cancelCharges({ kind, interaction_id }: Known): string {
  if (kind !== "agent") return "The run stops at its next step. You pay for what it has used so far.";
  if (interaction_id === undefined)
    return "We can't tell whether Google started this run. If it did, it cannot be stopped from here, and you may pay in full.";
  return "You pay for what it has used so far. If Google finishes anyway, you pay in full and keep the report.";
}

function doubleChargeWarning({ estimate }: Known): string {
  const likely = estimate?.likely_usd;
  const cost = likely === undefined ? "" : ` The second run will probably cost ${money(likely)}.`;
  return `The first run may already be in progress. Starting again could charge you twice.${cost}`;
}
