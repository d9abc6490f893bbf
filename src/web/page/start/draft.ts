/** What is being written on the way to a start. It outlives errors and reloads, until something was started with it. */

import { useState } from "preact/hooks";
import { remember, remembered } from "../app/remembered.ts";

export const AGENTS = [
  {
    model: "deep-research-preview-04-2026",
    name: "Standard",
    about: "A thorough report with citations. Right for most questions.",
  },
  {
    model: "deep-research-max-preview-04-2026",
    name: "Max",
    about: "Reads and checks more. Takes longer and costs more.",
  },
] as const;

export interface Draft {
  query: string;
  model: string;
  hours: number;
  notify: boolean;
}

export const EMPTY: Draft = { query: "", model: AGENTS[0].model, hours: 8, notify: true };

export const MOST_CHARACTERS = 10_000;
export const MOST_HOURS = 72;

/** What stands in the way of an estimate, in a sentence; nothing when it is fine. */
export function objection({ query, hours }: Draft): string | undefined {
  const { length } = query.trim();
  if (length === 0) return "Write your question first.";
  if (!/[\p{L}\p{N}]/u.test(query)) return "The question needs at least one letter or digit.";
  if (length > MOST_CHARACTERS)
    return `The question is longer than ${MOST_CHARACTERS.toLocaleString("en-US")} characters.`;
  if (!Number.isInteger(hours) || hours < 1 || hours > MOST_HOURS)
    return `Hours must be a whole number from 1 to ${MOST_HOURS}.`;
  return undefined;
}

/** The same key is the same estimate. */
export const estimateKey = ({ query, model, hours }: Draft): string => JSON.stringify([query.trim(), model, hours]);

/** A draft as it was kept; what is not there or not right is as at the beginning. */
export function readDraft(kept: string | undefined): Draft {
  const found: unknown = kept === undefined ? undefined : parsed(kept);
  if (typeof found !== "object" || found === null) return EMPTY;
  const draft: Partial<Record<keyof Draft, unknown>> = found;
  return {
    query: typeof draft.query === "string" ? draft.query : EMPTY.query,
    model: AGENTS.find(({ model }) => model === draft.model)?.model ?? EMPTY.model,
    hours: typeof draft.hours === "number" ? draft.hours : EMPTY.hours,
    notify: typeof draft.notify === "boolean" ? draft.notify : EMPTY.notify,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const KEY = "draft";

export interface KeptDraft {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  forget: () => void;
}

export function useDraft(): KeptDraft {
  const [draft, setDraft] = useState(() => readDraft(remembered("sessionStorage", KEY)));
  const change = (part: Partial<Draft>): void =>
    setDraft((before) => {
      const next = { ...before, ...part };
      remember("sessionStorage", KEY, JSON.stringify(next));
      return next;
    });
  return { draft, change, forget: () => remember("sessionStorage", KEY, undefined) };
}
