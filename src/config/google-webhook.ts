/** Where Google is asked to announce that an interaction has ended, and the keys that it signs such a message with. */

import type { Config } from "./config.ts";

export interface GoogleWebhook {
  url: string;
  keysUrl: string;
}

export const GOOGLE_WEBHOOK_PATH = "/webhooks/google";
const GOOGLE_KEYS = "https://generativelanguage.googleapis.com/.well-known/jwks.json";

/** Undefined where Google could not reach this server. On loopback, the simulator is Google. */
export function googleWebhook({ settings, vertex }: Pick<Config, "settings" | "vertex">): GoogleWebhook | undefined {
  const { MCP_PUBLIC_URL: publicUrl, GOOGLE_GEMINI_BASE_URL: baseUrl } = settings;
  const [own, google] = [URL.parse(publicUrl ?? ""), URL.parse(baseUrl ?? "")];
  // A gateway passes requests on, but Google sends messages itself.
  const isSimulated = google?.hostname === "127.0.0.1";
  if (own === null || vertex) return undefined;
  const isReachable = isSimulated ? own.hostname === "127.0.0.1" : own.protocol === "https:";
  if (!isReachable) return undefined;
  const url = `${own.origin}${own.pathname.replace(/\/+(?:mcp)?\/*$/, "")}${GOOGLE_WEBHOOK_PATH}`;
  return { url, keysUrl: isSimulated ? `${google.origin}/.well-known/jwks.json` : GOOGLE_KEYS };
}
