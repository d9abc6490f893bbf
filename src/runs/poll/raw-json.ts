/**
 * Serializes and compresses Google's raw response for storage; omits fields that cannot be serialized, the user's own
 * files, which a finished interaction may repeat, and secrets of MCP servers, which a step may repeat.
 */

import { deflateRawSync } from "node:zlib";
import { isRecord } from "../../platform/is-record.ts";

export function packRaw(raw: unknown, redact: (text: string) => string): Uint8Array | undefined {
  if (raw === undefined) return undefined;
  return deflateRawSync(redact(serialize(withoutRequest(raw)) ?? "{}"));
}

/** The request that Google may repeat: its input may hold files, the headers of its MCP servers hold secrets. */
function withoutRequest(raw: unknown): unknown {
  if (!isRecord(raw)) return raw;
  const { input: _input, tools: _tools, ...response } = raw;
  return withoutOwnFiles(response);
}

function withoutOwnFiles(raw: Record<string, unknown>): unknown {
  if (!Array.isArray(raw["steps"])) return raw;
  const steps = raw["steps"].map((step: unknown) => {
    if (!isRecord(step) || step["type"] !== "user_input" || !Array.isArray(step["content"])) return step;
    return { ...step, content: step["content"].map(withoutData) };
  });
  return { ...raw, steps };
}

function withoutData(part: unknown): unknown {
  if (!isRecord(part) || part["data"] === undefined) return part;
  const { data: _data, ...rest } = part;
  return rest;
}

/** Falls back to field by field: thousands of nesting levels overflow the stack of JSON.stringify. */
function serialize(raw: unknown): string | undefined {
  const whole = tryStringify(raw);
  if (whole !== undefined || !isRecord(raw)) return whole;
  const fields = Object.entries(raw).flatMap(([name, value]) => {
    const text = tryStringify(value);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${fields.join(",")}}`;
}

function tryStringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
