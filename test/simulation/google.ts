/** Google's agent in a simulated history: accepts, delays, loses and rejects requests; its ledger is the judge. */

import { AppError } from "../../src/errors.ts";
import type { Agent, StartOutcome, StartRequest, Interaction, PollResult } from "../../src/gemini/research-agent.ts";
import { planSubject } from "../kit/judge/decisions.ts";
import type { Chance, VirtualTime } from "./virtual-time.ts";

interface AcceptedStart {
  id: string;
  attempt: string;
  run: string;
  /** What the user decided about: the question, or the plan that it continues. */
  subject: string;
  isPlan: boolean;
  acceptedAt: number;
  endsAt: number;
  /** The final status unless it is cancelled first. */
  end: "completed" | "failed";
  cancelledAt: number | undefined;
  usageAt: number;
  /** When its id reached which process. */
  delivered: { at: number; processId: string } | undefined;
}

export interface Google {
  ledger: AcceptedStart[];
  posts: Map<string, number>;
  statusOf(id: string): Interaction["status"] | undefined;
  /** The report or plan that it has or will have. */
  textOf(start: Pick<AcceptedStart, "id" | "isPlan">): string;
  /** Ends all faults. */
  heal(): void;
  /** The agent of one process; `pass` never resolves once the process is killed. */
  agentFor(process: { processId: string; pass: () => Promise<void> }): Agent;
}

const unreachable = (): AppError => new AppError({ code: "GEMINI_UNAVAILABLE", message: "Google cannot be reached." });

/** Outcomes of a hundred starts: most are accepted, and many of those responses are late or lost. */
const START_OUTCOMES = [
  ...Array<"accepted">(55).fill("accepted"),
  ...Array<"slow">(10).fill("slow"),
  ...Array<"lost">(12).fill("lost"),
  ...Array<"unknown">(5).fill("unknown"),
  ...Array<"not_sent">(8).fill("not_sent"),
  ...Array<"rate_limited">(5).fill("rate_limited"),
  ...Array<"refused">(5).fill("refused"),
] as const;

const MINUTE = 60_000;
/** A plan takes a fraction of the time of a research. */
const PLAN_SHARE = 0.2;

export function createGoogle(time: VirtualTime, chance: Chance): Google {
  const ledger: AcceptedStart[] = [];
  const posts = new Map<string, number>();
  let healthy = false;
  const find = (id: string): AcceptedStart | undefined => ledger.find((start) => start.id === id);
  const accept = ({ labels, query, variant }: StartRequest): AcceptedStart => {
    const acceptedAt = time.now();
    const isPlan = variant?.collaborativePlanning === true;
    const takesMs = chance.upTo(chance.is(0.05) ? 5 * MINUTE : MINUTE);
    const endsAt = acceptedAt + (isPlan ? PLAN_SHARE * takesMs : takesMs);
    const previous = variant?.previousInteractionId;
    const start: AcceptedStart = {
      id: `v1_${ledger.length}`,
      attempt: labels["attempt"] ?? "",
      run: labels["run"] ?? "",
      subject: previous === undefined ? query : planSubject(previous),
      isPlan,
      acceptedAt,
      endsAt,
      end: chance.is(0.1) ? "failed" : "completed",
      cancelledAt: undefined,
      delivered: undefined,
      usageAt: endsAt + (chance.is(0.3) ? 20_000 : 0),
    };
    ledger.push(start);
    return start;
  };
  const statusOf = (start: AcceptedStart): Interaction["status"] => {
    if (start.cancelledAt !== undefined && start.cancelledAt < start.endsAt) return "cancelled";
    return time.now() < start.endsAt ? "working" : start.end;
  };
  const poll = (id: string): PollResult => {
    const start = find(id);
    return start === undefined ? { kind: "missing" } : { kind: "found", interaction: interactionOf(start) };
  };
  const interactionOf = (start: AcceptedStart): Interaction => {
    const status = statusOf(start);
    return {
      id: start.id,
      status,
      rawStatus: status === "working" ? "in_progress" : status,
      report: status === "completed" ? textOf(start) : "",
      sources: [],
      citations: [],
      usage: time.now() >= start.usageAt ? { input: 10, output: 5, cached: 0, searches: 1 } : undefined,
      thoughts: [`Thought at ${Math.floor(time.now() / MINUTE)}`],
      searches: [],
      earlierOutputs: [],
      pictures: [],
      searchSuggestions: [],
      failureCause: undefined,
      raw: { id: start.id },
    };
  };
  const fault = (): PollResult | undefined => {
    if (healthy || !chance.is(0.15)) return undefined;
    return chance.is(0.3)
      ? { kind: "rate_limited", retryAfterMs: chance.is(0.5) ? 5_000 : undefined }
      : { kind: "unreachable", error: unreachable() };
  };
  return {
    ledger,
    posts,
    statusOf: (id) => {
      const start = find(id);
      return start && statusOf(start);
    },
    textOf,
    heal: () => void (healthy = true),
    agentFor: ({ processId, pass }) => ({
      fingerprint: { key: "k", baseUrl: "" },
      start: async (request): Promise<StartOutcome> => {
        const { labels, checkBeforeSending } = request;
        const attempt = labels["attempt"] ?? "";
        await time.sleep(chance.upTo(200));
        const refusal = await checkBeforeSending();
        if (refusal !== undefined) return { kind: "withheld", error: refusal };
        posts.set(attempt, (posts.get(attempt) ?? 0) + 1);
        const kind = healthy ? "accepted" : (chance.pick(START_OUTCOMES) ?? "accepted");
        await time.sleep(chance.upTo(2_000));
        const taken = kind === "accepted" || kind === "slow" || kind === "lost" ? accept(request) : undefined;
        await time.sleep(kind === "slow" ? 10_000 + chance.upTo(100_000) : chance.upTo(2_000));
        await pass();
        if (taken !== undefined && kind !== "lost") {
          taken.delivered = { at: time.now(), processId };
          return { kind: "accepted", interactionId: taken.id };
        }
        if (kind === "not_sent" || kind === "refused") return { kind, error: unreachable() };
        if (kind === "rate_limited") return { kind, retryAfterMs: undefined, error: unreachable() };
        return { kind: "unknown", why: "The answer was lost." };
      },
      poll: async (id) => {
        await time.sleep(chance.upTo(1_500));
        await pass();
        return fault() ?? poll(id);
      },
      stream: async ({ onEvent, signal }) => {
        for (let n = 0; n < chance.upTo(3); n += 1) {
          await time.sleep(chance.upTo(30_000));
          await pass();
          if (signal.aborted) return;
          onEvent({ kind: "thought", text: `Thought ${n}`, eventId: `${n}` });
        }
      },
      delete: async () => ({ kind: "deleted" }),
      cancel: async (id) => {
        await time.sleep(chance.upTo(1_500));
        const failed = fault();
        const start = find(id);
        if (start !== undefined && failed === undefined) start.cancelledAt ??= time.now();
        await time.sleep(chance.upTo(1_500));
        await pass();
        return failed ?? poll(id);
      },
    }),
  };
}

const textOf = ({ id, isPlan }: Pick<AcceptedStart, "id" | "isPlan">): string =>
  isPlan ? `1. The plan of ${id}` : `# The report of ${id}`;
