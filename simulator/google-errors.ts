/** Google's error responses, with the original text where known. */

import type { Reply } from "./models/wire.ts";

export interface GoogleError {
  code: number;
  message: string;
  status: string;
  details?: Record<string, unknown>[];
  /** Its code in the Interactions API, where it is not the usual one of its HTTP status. Not part of other responses. */
  word?: string;
  /** The form in which the Interactions API sends it by default, where Google's front end sends it instead. */
  form?: "google" | "array";
}

const RETRY_SECONDS = "1";

const type = (name: string): { "@type": string } => ({
  "@type": `type.googleapis.com/google.rpc.${name}`,
});

const INVALID_KEY = "API key not valid. Please pass a valid API key.";

const DEPLETED =
  "Your prepayment credits are depleted. Please go to AI Studio at https://ai.studio/projects to manage your project and billing.";

const blocked = (word: string): GoogleError => ({
  code: 400,
  message: `The request was blocked (${word}).`,
  status: "INVALID_ARGUMENT",
  word,
});

const ERRORS = {
  "key-missing": {
    code: 403,
    message:
      "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
    status: "PERMISSION_DENIED",
    form: "array",
  },
  "key-invalid": {
    code: 400,
    message: INVALID_KEY,
    status: "INVALID_ARGUMENT",
    form: "array",
    details: [
      {
        ...type("ErrorInfo"),
        reason: "API_KEY_INVALID",
        domain: "googleapis.com",
        metadata: { service: "generativelanguage.googleapis.com" },
      },
      { ...type("LocalizedMessage"), locale: "en-US", message: INVALID_KEY },
    ],
  },
  "body-invalid": {
    code: 400,
    message: "Invalid JSON payload received.",
    status: "INVALID_ARGUMENT",
  },
  // With this text also as a 429, before Google introduced the 402.
  "http-402": { code: 402, message: DEPLETED, status: "RESOURCE_EXHAUSTED" },
  "prepaid-429": { code: 429, message: DEPLETED, status: "RESOURCE_EXHAUSTED" },
  "two-credentials": {
    code: 400,
    message: "Multiple authentication credentials received. Please pass only one.",
    status: "INVALID_ARGUMENT",
  },
  "labels-refused": {
    code: 400,
    message:
      "The parameter 'labels' is not available on the Gemini API but it is available on the Gemini Enterprise Agent Platform.",
    status: "INVALID_ARGUMENT",
  },
  "parameter-unknown": {
    code: 400,
    message: "Unknown parameter 'background'.",
    status: "INVALID_ARGUMENT",
    word: "parameter_unknown",
  },
  "billing-disabled": {
    code: 400,
    message:
      "Gemini API free tier is not available in your country. Please enable billing on your project in Google AI Studio.",
    status: "FAILED_PRECONDITION",
    word: "failed_precondition",
  },
  "content-prohibited": blocked("prohibited_content"),
  "content-unsafe": blocked("safety"),
  "content-recited": blocked("recitation"),
  "body-too-large": {
    code: 400,
    message: "Request payload size exceeds the limit: 20971520 bytes.",
    status: "INVALID_ARGUMENT",
  },
  "location-unsupported": {
    code: 400,
    message: "User location is not supported for the API use.",
    status: "FAILED_PRECONDITION",
    word: "failed_precondition",
  },
  "interactions-only": {
    code: 400,
    message: "This model only supports Interactions API.",
    status: "INVALID_ARGUMENT",
  },
  "route-unknown": { code: 404, message: "Requested entity was not found.", status: "NOT_FOUND" },
  "http-400": {
    code: 400,
    message: "Request contains an invalid argument.",
    status: "INVALID_ARGUMENT",
  },
  "http-401": {
    code: 401,
    message:
      "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
    status: "UNAUTHENTICATED",
  },
  "http-403": {
    code: 403,
    message: "The caller does not have permission",
    status: "PERMISSION_DENIED",
  },
  "http-404": {
    code: 404,
    message:
      "The model is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.",
    status: "NOT_FOUND",
    word: "model_not_found",
  },
  "http-408": { code: 408, message: "The request timed out.", status: "DEADLINE_EXCEEDED" },
  "http-409": { code: 409, message: "The operation was aborted.", status: "ABORTED" },
  "http-413": { code: 413, message: "Request payload is too large.", status: "INVALID_ARGUMENT" },
  "http-416": { code: 416, message: "The value is out of range.", status: "OUT_OF_RANGE" },
  "http-429": {
    code: 429,
    message: "You exceeded your current quota, please check your plan and billing details.",
    status: "RESOURCE_EXHAUSTED",
  },
  "http-429-retry-after": {
    code: 429,
    message: "Resource has been exhausted (e.g. check quota).",
    status: "RESOURCE_EXHAUSTED",
    word: "rate_limit_exceeded",
  },
  "quota-429": {
    code: 429,
    message: "You exceeded your current quota, please check your plan and billing details.",
    status: "RESOURCE_EXHAUSTED",
    word: "quota_exceeded",
  },
  "http-499": { code: 499, message: "The operation was cancelled.", status: "CANCELLED" },
  "http-500": {
    code: 500,
    message:
      "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting",
    status: "INTERNAL",
  },
  "http-503": {
    code: 503,
    message: "The model is overloaded. Please try again later.",
    status: "UNAVAILABLE",
  },
  "http-503-front-end": {
    code: 503,
    message: "The service is currently unavailable.",
    status: "UNAVAILABLE",
    form: "google",
  },
  "http-504": {
    code: 504,
    message: "Deadline expired before operation could complete.",
    status: "DEADLINE_EXCEEDED",
  },
} satisfies Record<string, GoogleError>;

export type ErrorName = keyof typeof ERRORS;

export const isErrorName = (name: string): name is ErrorName => Object.hasOwn(ERRORS, name);

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys has no narrower type
export const ERROR_NAMES = Object.keys(ERRORS) as ErrorName[];

export const errorNamed = (name: ErrorName): GoogleError => ERRORS[name];

/** An error response in the format of Google's APIs. */
function refusalReply(
  { word: _word, form: _form, ...error }: GoogleError,
  headers: Record<string, string> = {},
): Reply {
  return {
    status: error.code,
    headers: { "content-type": "application/json; charset=UTF-8", ...headers },
    frames: [JSON.stringify({ error }, null, 2)],
  };
}

/** A rate limit states the delay in header and body; fractions of a second only in the body, a date only in the header. */
function limitReply(error: GoogleError, retryAfter: string): Reply {
  const isSeconds = /^\d+(?:\.\d+)?$/.test(retryAfter);
  const isWhole = !retryAfter.includes(".");
  const details = [{ ...type("RetryInfo"), retryDelay: `${retryAfter}s` }];
  return refusalReply(
    { ...error, ...(isSeconds && { details }) },
    isSeconds && !isWhole ? {} : { "retry-after": retryAfter },
  );
}

export function errorReply(error: GoogleError | ErrorName, retryAfter?: string): Reply {
  if (typeof error === "string") {
    return errorReply(ERRORS[error], retryAfter ?? (error === "http-429-retry-after" ? RETRY_SECONDS : undefined));
  }
  return error.code === 429 && retryAfter !== undefined ? limitReply(error, retryAfter) : refusalReply(error);
}
