/** Creates Google's SDK client, loaded on first use, with the same set-up for searches and research. */

import type { GoogleGenAI } from "@google/genai";
import { AppError } from "../../errors.ts";
import { KEY_PAGE } from "../failures.ts";
import { type Fetch, guardedFetch } from "./guarded-fetch.ts";

/**
 * The version of the Gemini API that this program is tested with. The SDK's default changed from v1beta to v1, and
 * GOOGLE_GENAI_API_VERSION replaces it, so every client and request names it.
 */
export const API_VERSION = "v1beta";
const VERTEX_API_VERSION = "v1beta1";

export interface GoogleClientOptions {
  apiKey: string | undefined;
  /** Use Vertex AI; the SDK's own variables choose project, location and credentials. */
  vertex: boolean;
  baseUrl: string | undefined;
  /** Replaces the guarded fetch of Node's. */
  fetch?: Fetch | undefined;
}

export async function createGoogleClient(options: GoogleClientOptions): Promise<GoogleGenAI> {
  await useProxyFromEnvironment();
  const { GoogleGenAI: Client } = await import("@google/genai");
  const httpOptions = {
    ...(options.baseUrl === undefined ? {} : { baseUrl: options.baseUrl }),
    fetch: options.fetch ?? guardedFetch(fetch),
  };
  return options.vertex
    ? new Client({ vertexai: true, apiVersion: VERTEX_API_VERSION, httpOptions })
    : new Client({ vertexai: false, apiKey: options.apiKey ?? "", apiVersion: API_VERSION, httpOptions });
}

/** Makes Node's fetch use HTTPS_PROXY and the like. Older supported Node versions cannot do so at run time. */
export async function useProxyFromEnvironment(): Promise<void> {
  (await proxySetter())?.();
}

export const canUseProxyFromEnvironment = async (): Promise<boolean> => (await proxySetter()) !== undefined;

async function proxySetter(): Promise<(() => unknown) | undefined> {
  const http = await import("node:http");
  const isAvailable = "setGlobalProxyFromEnv" in http && typeof http.setGlobalProxyFromEnv === "function";
  return isAvailable ? http.setGlobalProxyFromEnv : undefined;
}

const ALTERNATIVES = {
  search: "Or install the Gemini CLI and set SEARCH_BACKEND=cli.",
  research: "Deep Research needs a key from a paid plan. Estimates, status and results work without a key.",
};

export function missingKey(purpose: keyof typeof ALTERNATIVES): AppError {
  return new AppError({
    code: "GEMINI_UNAVAILABLE",
    message: "No Gemini API key is set.",
    suggestion: `Get one at ${KEY_PAGE}, then run gemini-search-mcp init, or set GEMINI_API_KEY; restart a server that is running. ${ALTERNATIVES[purpose]}`,
    reason: "auth",
  });
}
