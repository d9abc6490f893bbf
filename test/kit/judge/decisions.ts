/** Records what a simulated user decides, so that the judge can compare it with what Google accepted. */

/** One decision that may be paid for once, however many windows ask for it. */
export interface Decision {
  /** The question, or the plan that is changed or approved. */
  subject: string;
  asks: number;
}

/** A request to adopt an id, to poll again or to send an unknown start again. */
export interface Resume {
  taskId: string;
  /** The step at which it was answered; undefined if it never was. */
  settled: number | undefined;
}

export interface AtGoogle {
  id: string;
  status: string;
  isPlan: boolean;
}

/** A cancel that was answered with success, or with the news that there is nothing to cancel. */
export interface Cancel {
  taskId: string;
  asked: number;
  /** The interactions that Google had accepted before, with their status after the answer. */
  seen: AtGoogle[];
}

export interface User {
  readonly decisions: readonly Decision[];
  readonly resumes: readonly Resume[];
  readonly cancels: readonly Cancel[];
  /** Several windows that ask for the same make one decision. `about`: the run, if it exists already. */
  ask(subject: string, about?: string): { answered(): void };
  /** The user knows that the first start may be charged, and how many Google has accepted so far. */
  askAgain(question: { subject: string; accepted: number }): void;
  /** What the latest decision about a run was about. */
  subjectOf(taskId: string): string | undefined;
  resuming(taskId: string): { settled(): void };
  /**
   * A question that is asked again after its run was cancelled is another decision; so is one that still waits for its
   * answer then, because the process that was asked may be suspended. `call`: was the cancel answered?
   */
  cancelling(run: { taskId: string; query: string | undefined }, call: () => Promise<boolean>): Promise<void>;
}

export const planSubject = (interactionId: string): string => `plan ${interactionId}`;

/** `atGoogle`: everything that Google has accepted. */
export function createUser(atGoogle: () => AtGoogle[]): User {
  const decisions = new Map<string, Decision>();
  const subjects = new Map<string, string>();
  const resumes: Resume[] = [];
  const cancels: Cancel[] = [];
  const cancelled = new Map<string, number>();
  const waiting = new Map<object, string>();
  let step = 0;
  const count = (key: string, subject: string): void => {
    const { asks } = decisions.get(key) ?? { asks: 0 };
    decisions.set(key, { subject, asks: asks + 1 });
  };
  const moveAsk = (from: string, to: string): void => {
    const decision = decisions.get(from);
    // The last ask of a decision stays: its run is the one that is cancelled.
    if (decision === undefined || decision.asks === 1) return;
    decisions.set(from, { ...decision, asks: decision.asks - 1 });
    count(to, decision.subject);
  };
  return {
    get decisions() {
      return [...decisions.values()];
    },
    resumes,
    cancels,
    ask: (subject, about) => {
      count(`${subject} after ${cancelled.get(subject) ?? 0} cancels`, subject);
      if (about !== undefined) subjects.set(about, subject);
      const asked = { answered: () => void waiting.delete(asked) };
      waiting.set(asked, subject);
      return asked;
    },
    askAgain: ({ subject, accepted }) => count(`${subject} again after ${accepted}`, subject),
    subjectOf: (taskId) => subjects.get(taskId),
    resuming: (taskId) => {
      const resume: Resume = { taskId, settled: undefined };
      resumes.push(resume);
      return { settled: () => void (resume.settled = step += 1) };
    },
    cancelling: async ({ taskId, query }, call) => {
      if (query !== undefined) {
        const cancels = cancelled.get(query) ?? 0;
        cancelled.set(query, cancels + 1);
        for (const subject of waiting.values())
          if (subject === query) moveAsk(`${query} after ${cancels} cancels`, `${query} after ${cancels + 1} cancels`);
      }
      const asked = (step += 1);
      const before = new Set(atGoogle().map(({ id }) => id));
      if (await call()) cancels.push({ taskId, asked, seen: atGoogle().filter(({ id }) => before.has(id)) });
    },
  };
}

interface DecidedRun {
  query: string;
  part: string;
  options_json: string;
}

/** A run that changes a plan or carries it out is about that plan; every other one is about its question. */
export function subjectOfRun({ query, part, options_json }: DecidedRun): string {
  const { variant } = JSON.parse(options_json) as { variant?: { previousInteractionId?: string } };
  const plan = part === "plan" || part === "research" ? variant?.previousInteractionId : undefined;
  return plan === undefined ? query : planSubject(plan);
}
