/** The draft of a new research run, stored in the browser until it is started. */

import { useState } from "preact/hooks";
import { writeStored, readStored } from "../app/browser-storage.ts";

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

export const MAX_QUESTION_CHARACTERS = 10_000;
export const MAX_HOURS = 72;

/** Returns why the draft cannot be estimated, or undefined. */
export function draftProblem({ query, hours }: Draft): string | undefined {
  const { length } = query.trim();
  if (length === 0) return "Write your question first.";
  if (!/[\p{L}\p{N}]/u.test(query)) return "The question needs at least one letter or digit.";
  if (length > MAX_QUESTION_CHARACTERS)
    return `The question is longer than ${MAX_QUESTION_CHARACTERS.toLocaleString("en-US")} characters.`;
  if (!Number.isInteger(hours) || hours < 1 || hours > MAX_HOURS)
    return `Hours must be a whole number from 1 to ${MAX_HOURS}.`;
  return undefined;
}

/** Drafts with the same key have the same estimate. */
export const estimateKey = ({ query, model, hours }: Draft): string => JSON.stringify([query.trim(), model, hours]);

/** Reads a stored draft; missing or invalid fields get their defaults. */
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
  const [draft, setDraft] = useState(() => readDraft(readStored("sessionStorage", KEY)));
  const change = (part: Partial<Draft>): void =>
    setDraft((before) => {
      const next = { ...before, ...part };
      writeStored("sessionStorage", KEY, JSON.stringify(next));
      return next;
    });
  return { draft, change, forget: () => writeStored("sessionStorage", KEY, undefined) };
}
