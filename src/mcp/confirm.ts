/** The user's word before a call that costs much: asked in the client's own dialog, in the way of either era. */

import {
  type ElicitResult,
  inputRequired,
  type InputRequiredResult,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { App } from "../app.ts";
import { AppError } from "../errors.ts";
import { confirmationNeeded, declined } from "../operations/parts/cost-confirmation.ts";
import type { Call, Operation, Question } from "../operations/operation.ts";
import { type Outcome, questionFor, refused } from "../operations/perform.ts";
import { isRecord } from "../platform/is-record.ts";
import { clientOf } from "./client.ts";
import type { Visit } from "./visit.ts";

export type Confirmation =
  | { kind: "go"; asked: boolean }
  | { kind: "ask"; result: InputRequiredResult }
  | { kind: "refused"; outcome: Outcome };

interface Asking {
  server: Server;
  context: ServerContext;
  deps: App["deps"];
  era: Visit["era"];
  operation: Operation;
  input: unknown;
  call: Call;
}

const KEY = "confirm";
/** No field: the client's own Accept is the one key that agrees. */
const FORM = { type: "object" as const, properties: {} };
/** A dialog without an answer by then is forgotten, not agreed to. */
const MOST_WAIT_MS = 600_000;

export async function confirm(asking: Asking): Promise<Confirmation> {
  try {
    return await confirmed(asking);
  } catch (error) {
    return { kind: "refused", outcome: refused(error, asking.deps) };
  }
}

async function confirmed(asking: Asking): Promise<Confirmation> {
  const { server, context, deps, era, operation, input, call } = asking;
  if (operation.question === undefined) return { kind: "go", asked: false };
  const { inputResponses } = context.mcpReq;
  // Whatever was answered is final: who asks again after a no or a closed dialog makes the client ask for ever.
  if (inputResponses !== undefined) return goIf(isAccepted(inputResponses[KEY]));
  const question = await questionFor(operation, deps, { input, call });
  if (question === undefined) return { kind: "go", asked: false };
  if (!canAsk(clientOf(server, context).capabilities.elicitation)) throw confirmationNeeded(operation, question);
  const elicitation = { message: question.ask, requestedSchema: FORM };
  if (era === "modern") {
    return { kind: "ask", result: inputRequired({ inputRequests: { [KEY]: inputRequired.elicit(elicitation) } }) };
  }
  return goIf(isAccepted(await askNow(asking, question, elicitation)));
}

const isAccepted = (answer: unknown): boolean => isRecord(answer) && answer["action"] === "accept";

function goIf(agreed: boolean): Confirmation {
  if (!agreed) throw declined();
  return { kind: "go", asked: true };
}

/** A form is what an older client means that names no mode. */
const canAsk = (elicitation: unknown): boolean =>
  isRecord(elicitation) && (elicitation["form"] !== undefined || elicitation["url"] === undefined);

/**
 * An older client is asked while its call waits. The SDK would do that for us, but in silence: its way leaves the
 * call's handler, and with it the progress that keeps the call alive while a person thinks.
 */
async function askNow(
  { context: { mcpReq }, operation, call }: Asking,
  question: Question,
  elicitation: Parameters<typeof inputRequired.elicit>[0],
): Promise<ElicitResult> {
  call.progress("Waiting for the user to confirm the cost");
  try {
    return await mcpReq.send(
      { method: "elicitation/create", params: { mode: "form", ...elicitation } },
      { relatedRequestId: mcpReq.id, timeout: MOST_WAIT_MS, signal: call.signal },
    );
  } catch {
    if (!call.signal.aborted) throw confirmationNeeded(operation, question);
    throw new AppError({ code: "CANCELLED", message: "The call was cancelled before the user had answered." });
  }
}
