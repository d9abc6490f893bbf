/** Span and duration metric of a tool call, under the client's span if the call names one (`traceparent`). */

import { isRecord } from "../platform/is-record.ts";
import { inSpan, isRecording, measure, RUN_ID, type Span } from "../telemetry/telemetry.ts";

const METHOD = { "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool" };

interface ToolTelemetry {
  /** A tool of this server, or "other": text from a client must not become a metric label. */
  tool: string;
  meta: unknown;
}

export async function withToolTelemetry<T extends object>(
  { tool, meta }: ToolTelemetry,
  work: () => Promise<T>,
): Promise<T> {
  if (!isRecording()) return work();
  const attributes = { ...METHOD, "gen_ai.tool.name": tool };
  const parent = isRecord(meta) && typeof meta["traceparent"] === "string" ? meta["traceparent"] : undefined;
  const began = performance.now();
  let errorType: string | undefined = "exception";
  try {
    return await inSpan({ name: `tools/call ${tool}`, kind: "server", attributes, parent }, async (span) => {
      const result = await work();
      errorType = recordResult(span, result);
      return result;
    });
  } finally {
    const failed = errorType === undefined ? {} : { "error.type": errorType };
    measure("mcp.server.operation.duration", (performance.now() - began) / 1_000, { ...attributes, ...failed });
  }
}

/** Records the run's id and returns the error code, if the call failed. */
function recordResult(span: Span, result: object): string | undefined {
  const structured =
    "structuredContent" in result && isRecord(result.structuredContent) ? result.structuredContent : {};
  const { task_id: taskId, error } = structured;
  if (typeof taskId === "string") span.set({ [RUN_ID]: taskId });
  if (!("isError" in result) || result.isError !== true) return undefined;
  const code = isRecord(error) && typeof error["code"] === "string" ? error["code"] : "tool_error";
  span.fail(code);
  return code;
}
