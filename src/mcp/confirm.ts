/** Asks the user to confirm an expensive call, in a dialog of the MCP client. */

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
import type { Connection } from "./connection.ts";

export type Confirmation =
  | { kind: "proceed"; userAgreed: boolean }
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

/** Name of the input request and of the client's response to it. */
const RESPONSE_KEY = "confirm";
/** A form without fields: the user agrees only with the client's own Accept button. */
const FORM = { type: "object" as const, properties: {} };
/** If the dialog is not answered by then, the call fails as not confirmed. */
const MAX_WAIT_MS = 600_000;

export async function confirm(request: ConfirmationRequest): Promise<Confirmation> {
  try {
    return await decide(request);
  } catch (error) {
    return { kind: "refused", outcome: refused(error, request.deps) };
  }
}

async function decide(request: ConfirmationRequest): Promise<Confirmation> {
  const { server, context, deps, protocolEra, operation, input, call } = request;
  if (operation.question === undefined) return { kind: "proceed", userAgreed: false };
  const { inputResponses } = context.mcpReq;
  // Any response is final: to ask again after a refusal or a closed dialog would make the client ask for ever.
  if (inputResponses !== undefined) return proceedIfAccepted(inputResponses[RESPONSE_KEY]);
  const question = await questionFor(operation, deps, { input, call });
  if (question === undefined) return { kind: "proceed", userAgreed: false };
  if (!supportsForms(clientOf(server, context).capabilities.elicitation)) throw confirmationNeeded(operation, question);
  const elicitation = { message: question.ask, requestedSchema: FORM };
  if (protocolEra === "modern") {
    const inputRequests = { [RESPONSE_KEY]: inputRequired.elicit(elicitation) };
    return { kind: "ask", result: inputRequired({ inputRequests }) };
  }
  return proceedIfAccepted(await elicit(request, question, elicitation));
}

function proceedIfAccepted(response: unknown): Confirmation {
  if (!isRecord(response) || response["action"] !== "accept") throw declined();
  return { kind: "proceed", userAgreed: true };
}

/** An older client that names no mode supports forms. */
const supportsForms = (elicitation: unknown): boolean =>
  isRecord(elicitation) && (elicitation["form"] !== undefined || elicitation["url"] === undefined);

/**
 * Asks an older client while its call waits. Not by the SDK's own bridge: it leaves the call's handler, which ends the
 * progress notifications that keep the call alive until the user decides.
 */
async function elicit(
  { context: { mcpReq }, operation, call }: ConfirmationRequest,
  question: Question,
  elicitation: Parameters<typeof inputRequired.elicit>[0],
): Promise<ElicitResult> {
  call.progress("Waiting for the user to confirm the cost");
  try {
    return await mcpReq.send(
      { method: "elicitation/create", params: { mode: "form", ...elicitation } },
      { relatedRequestId: mcpReq.id, timeout: MAX_WAIT_MS, signal: call.signal },
    );
  } catch {
    if (!call.signal.aborted) throw confirmationNeeded(operation, question);
    throw new AppError({ code: "CANCELLED", message: "The call was cancelled before the user answered." });
  }
}
