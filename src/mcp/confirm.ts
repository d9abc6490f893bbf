/** Asks the user in a dialog of the MCP client: what a vague question means, and whether an expensive call may start. */

import { hkdfSync, randomBytes } from "node:crypto";
import {
  createRequestStateCodec,
  type ElicitResult,
  inputRequired,
  type InputRequiredResult,
  type RequestStateCodec,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { App } from "../app.ts";
import { AppError } from "../errors.ts";
import { confirmationNeeded, declined, isAnswered, questionClosed } from "../operations/parts/cost-confirmation.ts";
import type { Call, Operation } from "../operations/operation.ts";
import { clarificationFor, clarified, type Outcome, questionFor, refused } from "../operations/perform.ts";
import { isRefusal } from "../operations/question/vague-question.ts";
import type { Subject } from "../operations/question/subject.ts";
import { isRecord } from "../platform/is-record.ts";
import { clientOf, type Connection } from "./client.ts";
import { withWholeId } from "./short-id.ts";

type Confirmation =
  /** With the input of the call, and the user's details if it was vague. `agreed`: what the user said yes to. */
  | { kind: "proceed"; agreed: Subject | undefined; input: unknown; waitedForUser?: boolean; newTaskId?: string }
  | { kind: "ask"; result: InputRequiredResult }
  | { kind: "refused"; outcome: Outcome };

interface ConfirmationRequest {
  server: Server;
  context: ServerContext;
  deps: App["deps"];
  sealSecrets: SealSecrets;
  protocolEra: Connection["protocolEra"];
  operation: Operation;
  input: unknown;
  call: Call;
  /** Whether the client is offered the tool that does. */
  comparesReports: boolean;
}

/** After the question whether to start anyway. */
const OR_OPEN = "Accept to start anyway, or decline to open that run.";

/** Names of the input requests and of the client's responses to them. */
const CONFIRM = "confirm";
const CLARIFY = "clarify";
/** A form without fields: the user agrees only with the client's own Accept button. */
const FORM = { type: "object" as const, properties: {} };
const DETAILS_FORM = {
  type: "object" as const,
  properties: { details: { type: "string" as const, title: "Details" } },
};
/** A dialog that is not answered by then starts nothing. */
const MAX_WAIT_MS = 600_000;

export async function confirm(request: ConfirmationRequest): Promise<Confirmation> {
  try {
    const { deps, call, input } = request;
    return await decide({ ...request, input: await withWholeId(deps, call.owner, input) });
  } catch (error) {
    return { kind: "refused", outcome: refused(error, request.deps) };
  }
}

/** A modern client calls again with its responses: first to the clarifying question, then to that about the cost. */
async function decide(request: ConfirmationRequest): Promise<Confirmation> {
  const { context, operation } = request;
  if (operation.question === undefined) return { kind: "proceed", agreed: undefined, input: request.input };
  const { inputResponses } = context.mcpReq;
  if (inputResponses === undefined) return askFirst(request);
  if (inputResponses[CLARIFY] !== undefined) return askCost(request, detailsIn(inputResponses[CLARIFY]));
  // A refusal or a closed dialog is final: to ask again would make the client ask for ever.
  if (!isAccepted(inputResponses[CONFIRM])) {
    throw declined(await questionFor(operation, request.deps, { input: request.input, call: request.call }));
  }
  const sealed = await unsealed(request);
  // Nobody was asked, or another user, or too long ago.
  if (sealed === undefined) return askFirst(request);
  const input = clarified(operation, request.input, sealed.details);
  return { kind: "proceed", agreed: sealed.subject, input, waitedForUser: true, newTaskId: sealed.newTaskId };
}

const askFirst = (request: ConfirmationRequest): Promise<Confirmation> =>
  canAsk(request) ? askDetails(request) : askCost(request, undefined);

const canAsk = ({ server, context }: ConfirmationRequest): boolean =>
  supportsForms(clientOf(server, context).capabilities.elicitation);

const sealOf = ({ sealSecrets, call: { owner } }: ConfirmationRequest) =>
  questionSeal({ secrets: sealSecrets, owner, ttlMs: MAX_WAIT_MS });

async function unsealed(request: ConfirmationRequest): Promise<SealedQuestion | undefined> {
  const { context } = request;
  const state = context.mcpReq.requestState();
  if (typeof state !== "string") return undefined;
  return sealOf(request)
    .verify(state, context)
    .catch(() => undefined);
}

async function askDetails(request: ConfirmationRequest): Promise<Confirmation> {
  const { deps, protocolEra, operation, input, call } = request;
  const message = await clarificationFor(operation, deps, { input, call });
  if (message === undefined) return askCost(request, undefined);
  const elicitation = { message: `${message} Empty: as asked.`, requestedSchema: DETAILS_FORM };
  if (protocolEra === "modern") return askModern(CLARIFY, elicitation);
  call.progress("Waiting for the user to answer a question");
  const response = await elicit(request, elicitation).catch(() => undefined);
  if (call.signal.aborted) throw cancelledBeforeAnswer();
  const next = await askCost(request, detailsIn(response));
  return next.kind === "proceed" ? { ...next, waitedForUser: true } : next;
}

/** Undefined if the user left the answer empty. Throws unless the user accepted: only that starts anything. */
function detailsIn(response: unknown): string | undefined {
  const { content } = requireAccepted(response, questionClosed);
  const details = isRecord(content) ? content["details"] : undefined;
  // Typed into the form and then accepted, it still means no.
  if (isRefusal(details)) throw questionClosed();
  return typeof details === "string" && details.trim() !== "" ? details : undefined;
}

async function askCost(request: ConfirmationRequest, details: string | undefined): Promise<Confirmation> {
  const { context, deps, protocolEra, operation, call } = request;
  const input = details === undefined ? request.input : clarified(operation, request.input, details);
  const asked = await questionFor(operation, deps, { input, call });
  if (asked === undefined) return { kind: "proceed", agreed: undefined, input };
  const offered = asked.next?.filter(({ do: verb }) => verb !== "compare" || request.comparesReports);
  const question = { ...asked, next: offered };
  if (!canAsk(request)) throw confirmationNeeded(operation, question);
  const { subject } = question;
  const message = isAnswered(question) ? `${question.ask} ${OR_OPEN}` : question.ask;
  const elicitation = { message, requestedSchema: FORM };
  if (protocolEra === "modern")
    return askModern(
      CONFIRM,
      elicitation,
      await sealOf(request).mint({ subject, details, newTaskId: crypto.randomUUID() }, context),
    );
  call.progress("Waiting for the user to confirm");
  try {
    requireAccepted(await elicit(request, elicitation), () => declined(question));
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw call.signal.aborted ? cancelledBeforeAnswer() : confirmationNeeded(operation, question);
  }
  return { kind: "proceed", agreed: subject, input, waitedForUser: true };
}

type Elicitation = Parameters<typeof inputRequired.elicit>[0];

/** The client returns the state with its next call. */
const askModern = (key: string, elicitation: Elicitation, requestState?: string): Confirmation => ({
  kind: "ask",
  result: inputRequired({
    inputRequests: { [key]: inputRequired.elicit(elicitation) },
    ...(requestState === undefined ? {} : { requestState }),
  }),
});

const isAccepted = (response: unknown): response is Record<string, unknown> =>
  isRecord(response) && response["action"] === "accept";

function requireAccepted(response: unknown, refusal: () => AppError): Record<string, unknown> {
  if (!isAccepted(response)) throw refusal();
  return response;
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
const elicit = ({ context: { mcpReq }, call }: ConfirmationRequest, elicitation: Elicitation): Promise<ElicitResult> =>
  mcpReq.send(
    { method: "elicitation/create", params: { mode: "form", ...elicitation } },
    { relatedRequestId: mcpReq.id, timeout: MAX_WAIT_MS, signal: call.signal },
  );

interface SealedQuestion {
  /** What a yes agrees to. */
  subject: Subject;
  /** The user's answer to the clarifying question before it. */
  details?: string | undefined;
  /** The id of the run that a yes starts: the client may send a yes twice. */
  newTaskId: string;
}

const KEY_BYTES = 32;
const UNSHARED_KEY = randomBytes(KEY_BYTES).toString("hex");

/** What all processes that may get the answer know, and no user of a shared server does. */
interface SealSecrets {
  apiKey: string | undefined;
  databaseUrl: string | undefined;
}

/**
 * The answer may reach another process than the one that asked. With another key the seal does not fit, and the user is
 * asked again. Vertex AI has no API key: then processes share the key through the URL of their database only.
 */
function keyFrom({ apiKey, databaseUrl }: SealSecrets): Uint8Array {
  const shared = [apiKey, databaseUrl].filter((secret) => secret !== undefined).join("\0");
  const secret = shared === "" ? UNSHARED_KEY : shared;
  return new Uint8Array(hkdfSync("sha256", secret, "", "gemini-search-mcp question seal", KEY_BYTES));
}

export interface SealOptions {
  secrets: SealSecrets;
  owner: string;
  ttlMs: number;
}

export const questionSeal = ({ secrets, owner, ttlMs }: SealOptions): RequestStateCodec<SealedQuestion> =>
  createRequestStateCodec({ key: keyFrom(secrets), ttlSeconds: ttlMs / 1_000, bind: () => owner });
