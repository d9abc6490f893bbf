/** Predicts whether a start joins an identical run, and builds the part of the request that makes two starts differ. */

import { currentAgent, type Material, type RequestVariant } from "../../gemini/research-agent.ts";
import { questionWithWishes, type Wishes } from "../../search/wishes.ts";
import type { Call, OperationDeps } from "../operation.ts";
import { beginningWithDetails, isVague } from "./vague-question.ts";
import { wishesOf } from "./wishes.ts";

interface Asked extends Wishes {
  query: string;
  plan: boolean;
  material: Material | undefined;
  visualization?: Visualization | undefined;
}

export type Visualization = "auto" | "off";

/** Plan, wishes and material are part of the request, so a start with other wishes is another start. */
export function variantFor({ query, plan, material, visualization, ...input }: Asked): RequestVariant | undefined {
  const wishes = wishesOf(input);
  const variant: RequestVariant = {
    ...(plan ? { collaborativePlanning: true } : {}),
    ...(visualization === "auto" ? { visualization } : {}),
    ...(wishes === undefined ? {} : { input: questionWithWishes(query, wishes) }),
    ...(material === undefined ? {} : { material }),
  };
  return Object.keys(variant).length === 0 ? undefined : variant;
}

interface StartInput extends Asked {
  model: string;
}

/** Whether the start would join a run instead of being paid for; a prediction until the start is committed. */
export async function joinsRun(deps: OperationDeps, input: StartInput, { owner }: Call): Promise<boolean> {
  const { findSameStart, joinKeyOf } = await import("../../runs/start/duplicate-start-store.ts");
  const { query } = input;
  const { agent } = currentAgent(input.model);
  const joinKey = joinKeyOf({ owner, query, agent, variant: variantFor(input) });
  return (await findSameStart(await deps.database(), { owner, joinKey, now: deps.clock.now() })) !== undefined;
}

/**
 * The question as the user made it more precise minutes ago, if it is vague: a call that is repeated because its answer
 * was lost joins that run instead of asking and paying again. Only a start that joins is changed: with other options it
 * may mean something else.
 */
export async function asClarifiedBefore<Input extends StartInput & { force_new: boolean }>(
  deps: OperationDeps,
  input: Input,
  call: Call,
): Promise<Input> {
  if (input.force_new || !isVague(input.query) || (await joinsRun(deps, input, call))) return input;
  const { findLongerQuestions } = await import("../../runs/start/duplicate-start-store.ts");
  const { owner } = call;
  const beginning = beginningWithDetails(input.query);
  for (const query of await findLongerQuestions(await deps.database(), { owner, beginning, now: deps.clock.now() })) {
    const precise = { ...input, query };
    if (await joinsRun(deps, precise, call)) return precise;
  }
  return input;
}
