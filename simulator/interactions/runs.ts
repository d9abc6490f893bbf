/** The accepted runs. A run stores little more than its start; its state follows from the clock. */

import { randomBytes } from "node:crypto";
import type { AcceptedStart, PlanTurn } from "./ledger.ts";
import { parseLife, type Life } from "./scenario.ts";
import { openStateFile, type SavedLine } from "./state.ts";
import type { Ledger } from "../ledger.ts";

export interface Run {
  readonly start: AcceptedStart;
  readonly life: Life;
  /** Whether thought summaries were requested. */
  readonly thinks: boolean;
  /** Whether the report may have pictures. */
  readonly draws: boolean;
  /** Documents and pictures of its input. */
  readonly attached?: Record<string, unknown>[] | undefined;
  /** The JSON schema of its answer. */
  readonly schema?: Record<string, unknown> | undefined;
  /** It has no tools and uses nothing but its input. */
  readonly offline?: boolean | undefined;
  /** Skipped time before its start, in milliseconds. */
  readonly skipped: number;
  /** Time of the cancel, in virtual milliseconds since the start. */
  cancelledAt: number | undefined;
}

export type RunFacts = Pick<AcceptedStart, "query" | "agent" | "model" | "previous" | "context" | "labels" | "key"> & {
  plan?: Mutable<PlanTurn> | undefined;
} & Pick<Run, "life" | "thinks" | "draws" | "attached" | "schema" | "offline">;

type Mutable<Plan extends PlanTurn> = Omit<Plan, "changes"> & { changes: string[] };

/** A turn that ends with a plan. */
export const isPlanning = ({ start }: Pick<Run, "start">): boolean => start.plan?.isApproved === false;

/** What is researched or planned: of a later turn the question of the first. */
export const topicOf = ({ start }: Pick<Run, "start">): { query: string; agent: string } => ({
  query: start.plan?.topic ?? start.query,
  agent: start.agent,
});

export interface Runs {
  open(facts: RunFacts): Run;
  /** Undefined for an unknown, deleted or expired run. */
  find(id: string): Run | undefined;
  /** Virtual milliseconds since the start. */
  elapsed(run: Run): number;
  markDelivered(run: Run): void;
  cancel(run: Run): void;
  remove(run: Run): void;
  /** Advances the clock of all runs by real milliseconds. */
  skip(ms: number): void;
  /** Calls the listener after a change other than passing time; returns the unsubscribe function. */
  onChange(listener: () => void): () => void;
  clear(): void;
  close(): void;
}

interface RunsOptions {
  stateFile: string | undefined;
  ledger: Ledger;
}

const newId = (): string => `v1_${randomBytes(30).toString("base64url")}`;

function createMemory(ledger: Ledger): { runs: Map<string, Run>; skipped: () => number; apply(line: SavedLine): void } {
  const runs = new Map<string, Run>();
  // Equal settings are shared, because a scenario may have ten thousand runs.
  const lives = new Map<string, Life>();
  let skipped = 0;

  function sharedLife(saved: object): Life {
    const key = JSON.stringify(saved);
    const life = lives.get(key) ?? parseLife(saved);
    lives.set(key, life);
    return life;
  }

  return {
    runs,
    skipped: () => skipped,
    apply(line) {
      switch (line.event) {
        case "start": {
          const { event: _, life, thinks, draws, attached, schema, offline, skipped: before, ...facts } = line;
          const start: AcceptedStart = { ...facts, answered: "cut", ...(schema && { structured: true }) };
          const state = { thinks, draws, attached, schema, offline, skipped: before, cancelledAt: undefined };
          runs.set(line.id, { start, life: sharedLife(life), ...state });
          return ledger.recordStart(start);
        }
        case "skip":
          skipped += line.ms;
          return undefined;
        case "delete":
          runs.delete(line.id);
          return undefined;
        default: {
          const run = runs.get(line.id);
          if (run !== undefined && line.event === "delivered") run.start.answered = "delivered";
          if (run !== undefined && line.event === "cancel") run.cancelledAt ??= line.elapsed;
        }
      }
    },
  };
}

export function openRuns({ stateFile, ledger }: RunsOptions): Runs {
  const { runs, skipped, apply } = createMemory(ledger);
  const state = openStateFile(stateFile, apply);
  const listeners = new Set<() => void>();

  /** Saves the event before applying it, so that an answered request is never lost. */
  function commit(line: SavedLine): void {
    state.append(line);
    apply(line);
    if (line.event === "start" || line.event === "delivered") return;
    for (const listener of listeners) listener();
  }

  const elapsed = ({ start, life, skipped: before }: Run): number =>
    Math.max(0, Date.now() - start.at + skipped() - before) * life.speed;

  return {
    elapsed,
    open(facts) {
      const id = newId();
      commit({ event: "start", id, ...facts, at: Date.now(), skipped: skipped() });
      const run = runs.get(id);
      if (run === undefined) throw new Error("A run that was just opened is missing.");
      return run;
    },
    find(id) {
      const run = runs.get(id);
      return run !== undefined && elapsed(run) >= (run.life.expires_after_ms ?? Infinity) ? undefined : run;
    },
    markDelivered: ({ start }) => commit({ event: "delivered", id: start.id }),
    cancel: (run) => commit({ event: "cancel", id: run.start.id, elapsed: elapsed(run) }),
    remove: ({ start }) => commit({ event: "delete", id: start.id }),
    skip: (ms) => commit({ event: "skip", ms }),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    clear() {
      runs.clear();
      state.clear();
    },
    close: state.close,
  };
}
