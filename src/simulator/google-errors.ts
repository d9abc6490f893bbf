/** Google's error answers, word for word where they are known. */

import type { Reply } from "./wire.ts";

interface GoogleError {
  code: number;
  message: string;
  status: string;
  details?: Record<string, unknown>[];
}

const RETRY_SECONDS = 1;

const type = (name: string): { "@type": string } => ({
  "@type": `type.googleapis.com/google.rpc.${name}`,
});

const INVALID_KEY = "API key not valid. Please pass a valid API key.";

const ERRORS = {
  "key-missing": {
    code: 403,
    message:
      "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
    status: "PERMISSION_DENIED",
  },
  "key-invalid": {
    code: 400,
    message: INVALID_KEY,
    status: "INVALID_ARGUMENT",
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
  "body-too-large": {
    code: 400,
    message: "Request payload size exceeds the limit: 20971520 bytes.",
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
  },
  "http-429": {
    code: 429,
    message: "You exceeded your current quota, please check your plan and billing details.",
    status: "RESOURCE_EXHAUSTED",
  },
  "http-429-retry-after": {
    code: 429,
    message: `Resource has been exhausted (e.g. check quota). Please retry in ${RETRY_SECONDS}s.`,
    status: "RESOURCE_EXHAUSTED",
    details: [{ ...type("RetryInfo"), retryDelay: `${RETRY_SECONDS}s` }],
  },
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
} satisfies Record<string, GoogleError>;

export type ErrorName = keyof typeof ERRORS;

export function errorReply(name: ErrorName): Reply {
  const error: GoogleError = ERRORS[name];
  return {
    status: error.code,
    headers: {
      "content-type": "application/json; charset=UTF-8",
      ...(name === "http-429-retry-after" && { "retry-after": String(RETRY_SECONDS) }),
    },
    frames: [JSON.stringify({ error }, null, 2)],
  };
}
