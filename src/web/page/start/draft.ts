/** The draft of a new question, stored in the browser until it is asked, and the request that asks a search. */

import { useState } from "preact/hooks";
import type { RunLive } from "../../../operations/view/run-view.ts";
import type { Wishes } from "../../../search/wishes.ts";
import type { Acted } from "../../wire.ts";
import { KIND_NAMES } from "../../../runs/run.ts";
import { keep, readKept } from "../app/browser-storage.ts";
import { postJson } from "../app/request.ts";

export interface Depth {
  /** A search, or the model of a Deep Research agent. */
  depth: string;
  name: string;
  about: string;
  /** Duration and price; for Deep Research the estimate shows them. */
  price: string;
}

const SEARCHES: readonly Depth[] = [
  { depth: "search", name: KIND_NAMES.search, about: "One answer with its sources.", price: "Seconds · about a cent" },
  {
    depth: "deep_search",
    name: KIND_NAMES.deep_search,
    about: "Rounds from several perspectives, checked and corrected until one confirms the answer.",
    price: "Minutes · cents per round",
  },
];

const STANDARD = "deep-research-preview-04-2026";

const AGENTS: readonly Depth[] = [
  {
    depth: STANDARD,
    name: KIND_NAMES.agent,
    about: "A thorough report with citations, written by Google’s agent in the background.",
    price: "About 20 min · $1 to $3",
  },
  {
    depth: "deep-research-max-preview-04-2026",
    name: `${KIND_NAMES.agent} Max`,
    about: "Reads and checks more.",
    price: "Up to 1 h · $3 to $11",
  },
];

export const DEPTHS: readonly Depth[] = [...SEARCHES, ...AGENTS];

/** Started at once, without an estimate. */
export const isSearch = ({ depth }: Pick<Draft, "depth">): boolean => SEARCHES.some((search) => search.depth === depth);

export interface Draft {
  query: string;
  depth: string;
  hours: number;
  notify: boolean;
  /** Ask for the plan first, and start the research when it is approved. */
  plan: boolean;
  /** The report may have charts. */
  charts: boolean;
  wishes: Wishes;
}

export const EMPTY: Draft = {
  query: "",
  depth: "search",
  hours: 8,
  notify: true,
  plan: false,
  charts: true,
  wishes: {},
};

type Asked = Pick<RunLive, "query" | "kind" | "model" | "wishes">;

/** The question of a run, to ask it again or change it first. */
export const draftOf = ({ query, kind, model, wishes = {} }: Asked): Draft => ({
  ...EMPTY,
  query,
  wishes,
  depth: kind === "agent" ? (AGENTS.find(({ depth }) => depth === model)?.depth ?? STANDARD) : depthOf(kind),
});

const depthOf = (kind: RunLive["kind"]): string => (kind === "search" ? "search" : "deep_search");

export const MAX_QUESTION_CHARACTERS = 10_000;
export const MAX_HOURS = 72;

/** Returns why the draft cannot be estimated, or undefined. */
export function draftProblem(draft: Draft): string | undefined {
  const { query, hours } = draft;
  const { length } = query.trim();
  if (length === 0) return "Enter a question to continue.";
  if (!/[\p{L}\p{N}]/u.test(query)) return "The question needs at least one letter or digit.";
  if (length > MAX_QUESTION_CHARACTERS)
    return `The question is longer than ${MAX_QUESTION_CHARACTERS.toLocaleString("en-US")} characters.`;
  if (isSearch(draft)) return undefined;
  if (!Number.isInteger(hours) || hours < 1 || hours > MAX_HOURS)
    return `Hours must be a whole number from 1 to ${MAX_HOURS}.`;
  return undefined;
}

/** Drafts with the same key and files have the same estimate. */
export const estimateKey = ({ query, depth, hours, plan, wishes }: Draft, files: readonly File[] = []): string => {
  const sizes = files.map(({ name, size, lastModified }) => [name, size, lastModified]);
  return JSON.stringify([query.trim(), depth, hours, plan, wishes, sizes]);
};

const KEY = "draft";

export const storeDraft = (draft: Draft): void => keep(KEY, JSON.stringify(draft));

export interface KeptDraft {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  forget: () => void;
}

export function useDraft(): KeptDraft {
  const [draft, setDraft] = useState<Draft>(() => ({ ...EMPTY, ...JSON.parse(readKept(KEY) ?? "{}") }));
  const change = (part: Partial<Draft>): void =>
    setDraft((before) => {
      const next = { ...before, ...part };
      storeDraft(next);
      return next;
    });
  return { draft, change, forget: () => keep(KEY, undefined) };
}

/** Kept until the server has answered: a question that is sent again after a lost answer is not paid twice. */
const UNANSWERED = "unanswered";

export async function askSearch({ query, depth, wishes }: Draft): Promise<Acted> {
  // `randomUUID` needs TLS.
  const id = readKept(UNANSWERED) ?? crypto.getRandomValues(new Uint32Array(4)).join("-");
  keep(UNANSWERED, id);
  const acted = await postJson<Acted>("/api/ask", { query: query.trim(), depth, ...wishes, request_id: id });
  keep(UNANSWERED, undefined);
  return acted;
}
