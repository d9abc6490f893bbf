/** Telemetry of one HTTP request to Google: method, host and status, nothing else. */

import { add, inSpan, isRecording } from "../../telemetry/telemetry.ts";

export async function observedRequest(
  input: Parameters<typeof fetch>[0],
  init: RequestInit | undefined,
  send: () => Promise<Response>,
): Promise<Response> {
  if (!isRecording()) return send();
  const { method, host } = targetOf(input, init);
  const attributes = { "http.request.method": method, "server.address": host };
  return inSpan({ name: method, kind: "client", attributes }, async (span) => {
    try {
      const response = await send();
      span.set({ "http.response.status_code": response.status });
      if (response.status >= 400) span.fail(String(response.status));
      add("gemini_search.upstream.requests", 1, { outcome: outcomeOf(response.status), "http.request.method": method });
      return response;
    } catch (error) {
      add("gemini_search.upstream.requests", 1, { outcome: "no_answer", "http.request.method": method });
      throw error;
    }
  });
}

function targetOf(input: Parameters<typeof fetch>[0], init: RequestInit | undefined): { method: string; host: string } {
  const isRequest = input instanceof Request;
  return {
    method: (init?.method ?? (isRequest ? input.method : "GET")).toUpperCase(),
    host: URL.parse(isRequest ? input.url : String(input))?.hostname ?? "",
  };
}

function outcomeOf(status: number): string {
  if (status === 429) return "rate_limited";
  if (status >= 500) return "server_error";
  return status >= 400 ? "refused" : "ok";
}
