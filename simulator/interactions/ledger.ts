/** Ledger of accepted (paid) starts and of the traffic of each interaction. */

export interface PlanTurn {
  /** The question of the first turn. */
  readonly topic: string;
  /** The changes that were asked for since. */
  readonly changes: readonly string[];
  /** False: the turn ends with a plan, whatever its input says. */
  readonly isApproved: boolean;
}

export interface AcceptedStart {
  readonly id: string;
  readonly query: string;
  /** The agent, or the model that answers instead of one. */
  readonly agent: string;
  readonly model?: string | undefined;
  /** The interaction that it continues, and the characters of the conversation so far. */
  readonly previous?: string | undefined;
  readonly context?: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /** Fingerprint of the key that is charged. */
  readonly key: string;
  /** Present for a turn of collaborative planning, and for the research that carries out its plan. */
  readonly plan?: PlanTurn | undefined;
  /** The answer follows a JSON schema. */
  readonly structured?: boolean;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** `cut` until the complete response was written; whether the client read it is unknown. */
  answered: "delivered" | "cut";
}

/** Times of requests about an interaction, in milliseconds since 1970. */
export interface Traffic {
  polls: number[];
  streams: number[];
  cancels: number[];
  deletes: number[];
}

export interface InteractionLedger {
  /** In order of acceptance; not a copy. */
  acceptedStarts(): readonly AcceptedStart[];
  trafficOf(id: string): Traffic;
  /** Counts by request and response, for example `{ "create http-503": 1, "get in_progress": 3 }`. */
  interactionRequests(): Record<string, number>;
  recordStart(start: AcceptedStart): void;
  recordTraffic(id: string, kind: keyof Traffic): void;
  recordAnswer(request: string, served: string): void;
  clear(): void;
}

export function createInteractionLedger(): InteractionLedger {
  let starts: AcceptedStart[] = [];
  const traffic = new Map<string, Partial<Traffic>>();
  const answers = new Map<string, number>();
  return {
    acceptedStarts: () => starts,
    trafficOf: (id) => ({ polls: [], streams: [], cancels: [], deletes: [], ...traffic.get(id) }),
    interactionRequests: () => Object.fromEntries(answers),
    recordStart(start) {
      starts.push(start);
    },
    recordTraffic(id, kind) {
      const times = traffic.get(id) ?? {};
      (times[kind] ??= []).push(Date.now());
      traffic.set(id, times);
    },
    recordAnswer(request, served) {
      const name = `${request} ${served}`;
      answers.set(name, (answers.get(name) ?? 0) + 1);
    },
    clear() {
      starts = [];
      traffic.clear();
      answers.clear();
    },
  };
}
