/** Who started what at the simulated Google, and who asked about it how often: the judge of money and of patience. */

export interface AcceptedStart {
  readonly id: string;
  readonly query: string;
  readonly agent: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Fingerprint of the key that pays. */
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** `cut` until the whole answer has been handed to the network; whether anybody read it is not known here. */
  answered: "delivered" | "cut";
}

/** When an interaction was asked about; milliseconds since 1970. */
export interface Traffic {
  looks: number[];
  streams: number[];
  cancels: number[];
  deletes: number[];
}

export interface InteractionLedger {
  /** In the order in which they were taken; not a copy. */
  acceptedStarts(): readonly AcceptedStart[];
  trafficOf(id: string): Traffic;
  /** How often a kind of request met an answer, for example `{ "create http-503": 1, "get in_progress": 3 }`. */
  interactionRequests(): Record<string, number>;
  recordStart(start: AcceptedStart): void;
  recordVisit(id: string, kind: keyof Traffic): void;
  recordAnswer(request: string, served: string): void;
  clear(): void;
}

export function createInteractionLedger(): InteractionLedger {
  let starts: AcceptedStart[] = [];
  const traffic = new Map<string, Partial<Traffic>>();
  const answers = new Map<string, number>();
  return {
    acceptedStarts: () => starts,
    trafficOf: (id) => ({ looks: [], streams: [], cancels: [], deletes: [], ...traffic.get(id) }),
    interactionRequests: () => Object.fromEntries(answers),
    recordStart(start) {
      starts.push(start);
    },
    recordVisit(id, kind) {
      const known = traffic.get(id) ?? {};
      (known[kind] ??= []).push(Date.now());
      traffic.set(id, known);
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
