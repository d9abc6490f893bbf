/** Names and explanations of the actions on a run. */

import type { RunAction, RunDetail } from "../../wire.ts";

export interface ActionText {
  name: string;
  /** Shown while the action is in progress. */
  pendingName: string;
  /** Shown beside a button that acts immediately, or in the confirmation dialog. */
  explanation: string;
  /** Whether a dialog asks for confirmation. */
  needsConfirmation: boolean;
  tone: "primary" | "danger" | "plain";
}

type Known = Pick<RunDetail, "kind" | "interaction_id" | "cost_usd" | "estimate">;

const TEXTS: Record<RunAction, (run: Known) => ActionText> = {
  cancel: (run) => ({
    name: "Cancel…",
    pendingName: "Cancelling…",
    explanation: cancelCharges(run),
    needsConfirmation: true,
    tone: "danger",
  }),
  look_again: () => ({
    name: "Check again",
    pendingName: "Checking…",
    explanation: "Asks Google whether the report is ready. Free of charge.",
    needsConfirmation: false,
    tone: "primary",
  }),
  continue: () => ({
    name: "Continue",
    pendingName: "Continuing…",
    explanation: "Continues with the next round. Results so far are kept; a round costs a few cents.",
    needsConfirmation: false,
    tone: "primary",
  }),
  adopt: () => ({
    name: "Adopt…",
    pendingName: "Adopting…",
    explanation: "If Google did start the research, enter its id here to continue this run. Free of charge.",
    needsConfirmation: true,
    tone: "primary",
  }),
  delete: () => ({
    name: "Delete…",
    pendingName: "Deleting…",
    explanation:
      "The question, the report, its sources and its timeline are permanently deleted. Files that were saved or downloaded stay where they are.",
    needsConfirmation: true,
    tone: "plain",
  }),
  restart: (run) => ({
    name: "Start again…",
    pendingName: "Starting…",
    explanation: doubleChargeWarning(run),
    needsConfirmation: true,
    tone: "danger",
  }),
};

export const actionText = (action: RunAction, run: Known): ActionText => TEXTS[action](run);

function cancelCharges({ kind, interaction_id }: Known): string {
  if (kind !== "agent") return "The run stops here at its next step. Usage so far is charged.";
  if (interaction_id === undefined)
    return "It is unknown whether Google started this run. If it did, it cannot be stopped from here and may be charged in full.";
  return "The run is stopped here and at Google. Usage until then is charged; if Google finishes it anyway, the report is charged in full and kept.";
}

function doubleChargeWarning({ estimate }: Known): string {
  const likely = estimate?.likely_usd;
  const cost = likely === undefined ? "" : ` The second start will probably cost $${likely.toFixed(2)}.`;
  return `The first start may be running at Google already. Starting again may be charged twice.${cost}`;
}

/** The same check as on the server, so that a typo is found before sending. */
const INTERACTION_ID = /^[\w.=-]{4,512}$/;

export function interactionIdProblem(typed: string): string | undefined {
  const id = typed.trim();
  if (id === "") return "Enter the id shown by Google.";
  if (id.length < 4) return "This is too short for an id of Google.";
  return INTERACTION_ID.test(id)
    ? undefined
    : "An id of Google consists of at most 512 letters, digits and the characters _ . = -";
}

/** The input of an action. */
export interface ActionInput {
  action: RunAction;
  savePartial?: boolean;
  interactionId?: string;
  agreed?: boolean;
  atGoogle?: boolean;
}

export function requestFor(taskId: string, input: ActionInput): { path: string; body: Record<string, unknown> } {
  const at = `/api/runs/${taskId}`;
  if (input.action === "cancel") return { path: `${at}/cancel`, body: { save_partial: input.savePartial ?? true } };
  if (input.action === "delete") return { path: `${at}/delete`, body: { delete_at_google: input.atGoogle === true } };
  const path = `${at}/resume`;
  if (input.action === "adopt") return { path, body: { interaction_id: (input.interactionId ?? "").trim() } };
  if (input.action !== "restart") return { path, body: {} };
  return { path, body: { accept_possible_double_charge: true, ...(input.agreed === true && { agreed: true }) } };
}
