/** Google's SDK, loaded when first needed and set up the same way for searches and for research. */

import type { GoogleGenAI } from "@google/genai";
import { AppError } from "../../errors.ts";
import { boundFetch } from "./bounded-fetch.ts";

export interface GoogleClientOptions {
  apiKey: string | undefined;
  /** The SDK's own variables choose project, location and credentials. */
  vertex: boolean;
  baseUrl: string | undefined;
  /** Instead of Node's. The SDK then leaves Node's limits as they are: five minutes of silence end a request. */
  fetch?: typeof fetch | undefined;
}

export async function createGoogleClient(options: GoogleClientOptions): Promise<GoogleGenAI> {
  await useProxyFromEnvironment();
  if (options.fetch === undefined) boundFetch();
  const { GoogleGenAI: Client } = await import("@google/genai");
  const httpOptions = {
    ...(options.baseUrl === undefined ? {} : { baseUrl: options.baseUrl }),
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  };
  return options.vertex
    ? new Client({ vertexai: true, httpOptions })
    : new Client({ vertexai: false, apiKey: options.apiKey ?? "", httpOptions });
}

/** Node's fetch ignores HTTPS_PROXY and its kin unless told; older supported versions cannot be told at run time. */
export async function useProxyFromEnvironment(): Promise<void> {
  (await proxySetter())?.();
}

export const canUseProxyFromEnvironment = async (): Promise<boolean> => (await proxySetter()) !== undefined;

async function proxySetter(): Promise<(() => unknown) | undefined> {
  const http = await import("node:http");
  const isThere = "setGlobalProxyFromEnv" in http && typeof http.setGlobalProxyFromEnv === "function";
  return isThere ? http.setGlobalProxyFromEnv : undefined;
}

const INSTEAD = {
  search: "or install the Gemini CLI and set SEARCH_BACKEND=cli.",
  research: "the Deep Research agent needs one of a paid plan. Estimates, status and results work without.",
};

export function missingKey(wanted: keyof typeof INSTEAD): AppError {
  return new AppError({
    code: "GEMINI_UNAVAILABLE",
    message: "No Gemini API key is set.",
    suggestion: `Set GEMINI_API_KEY (a key from Google AI Studio); ${INSTEAD[wanted]}`,
    reason: "auth",
  });
}
