/** Asks the user in a dialog of the MCP client: what a vague question means, and whether an expensive call may start. */

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
import type { Call, Operation } from "../operations/operation.ts";
import { clarificationFor, clarified, type Outcome, questionFor, refused } from "../operations/perform.ts";
import { isRecord } from "../platform/is-record.ts";
import { clientOf } from "./client.ts";
import type { Connection } from "./connection.ts";

export type Confirmation =
  /** With the input of the call, and the user's details if it was vague. */
  | { kind: "proceed"; userAgreed: boolean; input: unknown; waitedForUser?: boolean }
  | { kind: "ask"; result: InputRequiredResult }
  | { kind: "refused"; outcome: Outcome };

interface ConfirmationRequest {
  server: Server;
  context: ServerContext;
  deps: App["deps"];
  protocolEra: Connection["protocolEra"];
  operation: Operation;
  input: unknown;
  call: Call;
}

/** Names of the input requests and of the client's responses to them. */
const CONFIRM = "confirm";
const CLARIFY = "clarify";
/** A form without fields: the user agrees only with the client's own Accept button. */
const FORM = { type: "object" as const, properties: {} };
const DETAILS_FORM = {
  type: "object" as const,
  properties: { details: { type: "string" as const, title: "Details" } },
};
/** If the dialog is not answered by then, the call fails as not confirmed. */
const MAX_WAIT_MS = 600_000;
/** If this one is not answered by then, the question is asked as it is. */
const MAX_CLARIFY_MS = 120_000;

export async function confirm(request: ConfirmationRequest): Promise<Confirmation> {
  try {
    return await decide(request);
  } catch (error) {
    return { kind: "refused", outcome: refused(error, request.deps) };
  }
}

/** A modern client calls again with its responses: first to the clarifying question, then to that about the cost. */
async function decide(request: ConfirmationRequest): Promise<Confirmation> {
  const { context, operation } = request;
  if (operation.question === undefined) return { kind: "proceed", userAgreed: false, input: request.input };
  const { inputResponses } = context.mcpReq;
  // Any response is final: to ask again after a refusal or a closed dialog would make the client ask for ever.
  if (inputResponses?.[CLARIFY] !== undefined) return askCost(request, detailsIn(inputResponses[CLARIFY]));
  if (inputResponses !== undefined) {
    const input = clarified(operation, request.input, context.mcpReq.requestState());
    return proceedIfAccepted(inputResponses[CONFIRM], input);
  }
  return canAsk(request) ? askDetails(request) : askCost(request, undefined);
}

const canAsk = ({ server, context }: ConfirmationRequest): boolean =>
  supportsForms(clientOf(server, context).capabilities.elicitation);

async function askDetails(request: ConfirmationRequest): Promise<Confirmation> {
  const { deps, protocolEra, operation, input, call } = request;
  const question = await clarificationFor(operation, deps, { input, call });
  if (question === undefined) return askCost(request, undefined);
  const message = `${question} Leave it empty or decline to start it as it is.`;
  const elicitation = { message, requestedSchema: DETAILS_FORM };
  if (protocolEra === "modern") return askModern(CLARIFY, elicitation);
  call.progress("Waiting for the user to answer a question");
  const response = await elicit(request, elicitation, MAX_CLARIFY_MS).catch(() => undefined);
  if (call.signal.aborted) throw cancelledBeforeAnswer();
  const next = await askCost(request, detailsIn(response));
  return next.kind === "proceed" ? { ...next, waitedForUser: true } : next;
}

/** Undefined if the user skipped the question. */
function detailsIn(response: unknown): string | undefined {
  if (!isRecord(response) || response["action"] !== "accept" || !isRecord(response["content"])) return undefined;
  const { details } = response["content"];
  return typeof details === "string" && details.trim() !== "" ? details : undefined;
}

async function askCost(request: ConfirmationRequest, details: string | undefined): Promise<Confirmation> {
  const { deps, protocolEra, operation, call } = request;
  const input = details === undefined ? request.input : clarified(operation, request.input, details);
  const question = await questionFor(operation, deps, { input, call });
  if (question === undefined) return { kind: "proceed", userAgreed: false, input };
  if (!canAsk(request)) throw confirmationNeeded(operation, question);
  const elicitation = { message: question.ask, requestedSchema: FORM };
  if (protocolEra === "modern") return askModern(CONFIRM, elicitation, details);
  call.progress("Waiting for the user to confirm the cost");
  try {
    return proceedIfAccepted(await elicit(request, elicitation, MAX_WAIT_MS), input);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw call.signal.aborted ? cancelledBeforeAnswer() : confirmationNeeded(operation, question);
  }
}

type Elicitation = Parameters<typeof inputRequired.elicit>[0];

/** The client returns the details with its next call. They are not sealed: a client can write any question. */
const askModern = (key: string, elicitation: Elicitation, details?: string): Confirmation => ({
  kind: "ask",
  result: inputRequired({
    inputRequests: { [key]: inputRequired.elicit(elicitation) },
    ...(details === undefined ? {} : { requestState: details }),
  }),
});

function proceedIfAccepted(response: unknown, input: unknown): Confirmation {
  if (!isRecord(response) || response["action"] !== "accept") throw declined();
  return { kind: "proceed", userAgreed: true, input, waitedForUser: true };
}

const cancelledBeforeAnswer = (): AppError =>
  new AppError({ code: "CANCELLED", message: "The call was cancelled before the user answered." });

/** An older client that names no mode supports forms. */
const supportsForms = (elicitation: unknown): boolean =>
  isRecord(elicitation) && (elicitation["form"] !== undefined || elicitation["url"] === undefined);

/**
 * Asks an older client while its call waits. Not by the SDK's own bridge: it leaves the call's handler, which ends the
 * progress notifications that keep the call alive until the user decides.
 */
const elicit = (
  { context: { mcpReq }, call }: ConfirmationRequest,
  elicitation: Elicitation,
  timeout: number,
): Promise<ElicitResult> =>
  mcpReq.send(
    { method: "elicitation/create", params: { mode: "form", ...elicitation } },
    { relatedRequestId: mcpReq.id, timeout, signal: call.signal },
  );
