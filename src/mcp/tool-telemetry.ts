/** A tool call as telemetry sees it, under the span of whoever called if they named it. */

import { isRecord } from "../platform/is-record.ts";
import { inSpan, isRecording, measure, RUN_ID, type Span } from "../telemetry/telemetry.ts";

const METHOD = { "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool" };

export interface ObservedCall {
  /** One of ours, or a word for all others: what a client calls it is no name for a metric. */
  tool: string;
  meta: unknown;
}

export async function observedCall<T extends object>({ tool, meta }: ObservedCall, work: () => Promise<T>): Promise<T> {
  if (!isRecording()) return work();
  const attributes = { ...METHOD, "gen_ai.tool.name": tool };
  const parent = isRecord(meta) && typeof meta["traceparent"] === "string" ? meta["traceparent"] : undefined;
  const began = performance.now();
  let errorType: string | undefined = "exception";
  try {
    return await inSpan({ name: `tools/call ${tool}`, kind: "server", attributes, parent }, async (span) => {
      const result = await work();
      errorType = note(span, result);
      return result;
    });
  } finally {
    const failed = errorType === undefined ? {} : { "error.type": errorType };
    measure("mcp.server.operation.duration", (performance.now() - began) / 1_000, { ...attributes, ...failed });
  }
}

/** Reads of the answer what is ours: the run's id and the code of an error. */
function note(span: Span, result: object): string | undefined {
  const structured =
    "structuredContent" in result && isRecord(result.structuredContent) ? result.structuredContent : {};
  const { task_id: taskId, error } = structured;
  if (typeof taskId === "string") span.set({ [RUN_ID]: taskId });
  if (!("isError" in result) || result.isError !== true) return undefined;
  const code = isRecord(error) && typeof error["code"] === "string" ? error["code"] : "tool_error";
  span.fail(code);
  return code;
}
