/** Ledger of requests to the simulator, in order; tests use it to check costs and outcomes. */

import { createHash } from "node:crypto";
import { createInteractionLedger, type InteractionLedger } from "./interactions/ledger.ts";
import type { TaskKind } from "./scenario.ts";

export interface LedgerEntry {
  n: number;
  /** When the complete request had arrived, in milliseconds since 1970. */
  at: number;
  method: string;
  /** Without the query string, which may contain a key. */
  path: string;
  model: string | undefined;
  kind: TaskKind | undefined;
  /** A later turn follows tool results; only an opening turn takes a new step of the scenario. */
  turn: "opening" | "later" | undefined;
  bytes: number;
  round: number | undefined;
  question: string | undefined;
  wishes: string | undefined;
  tools: string[];
  /** What an interaction received besides its text. */
  attachments: Attachment[];
  generationConfig: Record<string, unknown> | undefined;
  /** What Google charges for it at its list price; interactions are charged by their usage. */
  costUsd: number;
  /** The prompt asks for a shorter answer than the previous one. */
  shorter: boolean;
  /** First 8 hexadecimal digits of the key's SHA-256. */
  key: string | undefined;
  /** The answer, fault or refusal that was served, for example `prose` or `http-503`. */
  served: string | undefined;
  status: number | undefined;
  /** `aborted` by the client, `cut` by a fault. */
  outcome: "pending" | "completed" | "aborted" | "cut";
}

export interface Attachment {
  type: string;
  mimeType: string;
  bytes: number;
  /** SHA-256 in hexadecimal. */
  hash: string;
}

type LedgerFacts = Pick<LedgerEntry, "method" | "path" | "bytes"> & Partial<LedgerEntry>;

/** Polls and streams of interactions are only counted, because there may be millions. */
export interface Ledger extends InteractionLedger {
  entries(): LedgerEntry[];
  /** All requests, or those of one kind. */
  count(kind?: TaskKind): number;
  /** Number of tasks, each of one or several requests. */
  exchanges(kind: TaskKind): number;
  countByKind(): Partial<Record<TaskKind, number>>;
  totalBytes(): number;
  /** Returns the entry, which is updated while its request is served. */
  record(facts: LedgerFacts): LedgerEntry;
}

export const keyFingerprint = (key: string): string => createHash("sha256").update(key).digest("hex").slice(0, 8);

const UNKNOWN = {
  model: undefined,
  kind: undefined,
  turn: undefined,
  round: undefined,
  question: undefined,
  wishes: undefined,
  tools: [],
  attachments: [],
  generationConfig: undefined,
  costUsd: 0,
  shorter: false,
  key: undefined,
  served: undefined,
  status: undefined,
  outcome: "pending",
} as const;

export function createLedger(): Ledger {
  let entries: LedgerEntry[] = [];
  const interactions = createInteractionLedger();
  return {
    ...interactions,
    entries: () => entries.map((entry) => ({ ...entry })),
    count: (kind) => entries.filter((entry) => kind === undefined || entry.kind === kind).length,
    exchanges: (kind) => entries.filter((entry) => entry.kind === kind && entry.turn === "opening").length,
    countByKind() {
      const counts: Partial<Record<TaskKind, number>> = {};
      for (const { kind } of entries) if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
      return counts;
    },
    totalBytes: () => entries.reduce((sum, entry) => sum + entry.bytes, 0),
    record(facts) {
      const entry = { n: entries.length + 1, at: Date.now(), ...UNKNOWN, tools: [], attachments: [], ...facts };
      entries.push(entry);
      return entry;
    },
    clear() {
      entries = [];
      interactions.clear();
    },
  };
}
