/** What each action is called, and what a person has to know before it is done. */

import type { RunAction, RunDetail } from "../../wire.ts";

export interface ActionText {
  name: string;
  /** While it is being done. */
  doing: string;
  /** Shown beside a button that acts at once, or in the dialog that asks first. */
  says: string;
  /** Whether a dialog asks before anything is done. */
  asks: boolean;
  tone: "primary" | "danger" | "plain";
}

type Known = Pick<RunDetail, "kind" | "interaction_id" | "cost_usd" | "estimate">;

const TEXTS: Record<RunAction, (run: Known) => ActionText> = {
  cancel: (run) => ({
    name: "Cancel…",
    doing: "Cancelling…",
    says: whatIsCharged(run),
    asks: true,
    tone: "danger",
  }),
  look_again: () => ({
    name: "Look again",
    doing: "Looking…",
    says: "Asks Google whether the report is there by now. This costs nothing.",
    asks: false,
    tone: "primary",
  }),
  continue: () => ({
    name: "Continue",
    doing: "Continuing…",
    says: "Goes on at the next round. What was found is kept; a round costs cents.",
    asks: false,
    tone: "primary",
  }),
  adopt: () => ({
    name: "Adopt…",
    doing: "Adopting…",
    says: "If Google did start the research, give its id here and the run is followed as if nothing had happened. This costs nothing.",
    asks: true,
    tone: "primary",
  }),
  delete: () => ({
    name: "Delete…",
    doing: "Deleting…",
    says: "The question, the report, its sources and its timeline are removed for good. Files that were saved or downloaded stay where they are.",
    asks: true,
    tone: "plain",
  }),
  restart: (run) => ({
    name: "Start again…",
    doing: "Starting…",
    says: mayBeTwice(run),
    asks: true,
    tone: "danger",
  }),
};

export const actionText = (action: RunAction, run: Known): ActionText => TEXTS[action](run);

function whatIsCharged({ kind, interaction_id }: Known): string {
  if (kind !== "agent") return "The run stops here at its next step. What Gemini has answered so far is charged.";
  if (interaction_id === undefined)
    return "It is not known whether Google started this run. If it did, it cannot be stopped from here and may be charged in full.";
  return "The run is stopped here and at Google. What it has used until then is charged; if Google finishes it all the same, the report is charged in full and kept.";
}

function mayBeTwice({ estimate }: Known): string {
  const likely = estimate?.likely_usd;
  const cost = likely === undefined ? "" : ` The second start will probably cost $${likely.toFixed(2)}.`;
  return `The first start may be running at Google already. Starting again may be charged twice.${cost}`;
}

/** As the server will judge it, so that a slip is seen before it is sent. */
const INTERACTION_ID = /^[\w.=-]{4,512}$/;

export function interactionIdProblem(typed: string): string | undefined {
  const id = typed.trim();
  if (id === "") return "Give the id that Google shows.";
  if (id.length < 4) return "This is too short to be an id of Google.";
  return INTERACTION_ID.test(id)
    ? undefined
    : "An id of Google has only letters, digits, and the signs _ . = - in it, at most 512 of them.";
}

/** What is asked of the server for an action. */
export interface Deed {
  action: RunAction;
  savePartial?: boolean;
  interactionId?: string;
  agreed?: boolean;
  atGoogle?: boolean;
}

export function requestFor(taskId: string, deed: Deed): { path: string; body: Record<string, unknown> } {
  const at = `/api/runs/${taskId}`;
  if (deed.action === "cancel") return { path: `${at}/cancel`, body: { save_partial: deed.savePartial ?? true } };
  if (deed.action === "delete") return { path: `${at}/delete`, body: { delete_at_google: deed.atGoogle === true } };
  const path = `${at}/resume`;
  if (deed.action === "adopt") return { path, body: { interaction_id: (deed.interactionId ?? "").trim() } };
  if (deed.action !== "restart") return { path, body: {} };
  return { path, body: { accept_possible_double_charge: true, ...(deed.agreed === true && { agreed: true }) } };
}
