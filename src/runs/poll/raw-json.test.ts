/** What is stored of responses that JSON.stringify cannot serialize. */

import { inflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { packRaw } from "./agent-result.ts";

const unpack = (packed: Uint8Array | undefined): unknown =>
  packed === undefined ? undefined : JSON.parse(inflateRawSync(packed).toString());

const pack = (raw: unknown): Uint8Array | undefined => packRaw(raw, (text) => text.replaceAll("x-secret", "[secret]"));

test("a response that is nested too deep is not kept, and no reason not to store its report (P5)", () => {
  const deep: unknown = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);
  expect(() => JSON.stringify(deep)).toThrow(RangeError);
  expect(pack({ id: "v1_a", extra: deep, steps: [{ type: "thought" }] })).toBeUndefined();
  expect(pack(undefined)).toBeUndefined();
});

test("what Google repeats of the request is left out: files, and the secrets of MCP servers (V3)", () => {
  const server = { type: "mcp_server", name: "crm", headers: { Authorization: "Bearer secret" } };
  const file = { type: "document", mime_type: "application/pdf", data: "c2VjcmV0" };
  const steps = [{ type: "user_input", content: [{ type: "text", text: "Why?" }, file] }];
  expect(unpack(pack({ id: "v1_a", input: [file], tools: [server], steps }))).toEqual({
    id: "v1_a",
    steps: [
      {
        type: "user_input",
        content: [
          { type: "text", text: "Why?" },
          { type: "document", mime_type: "application/pdf" },
        ],
      },
    ],
  });
});

test("a secret that a step repeats is replaced (V3, T9)", () => {
  const steps = [{ type: "thought", summary: "with x-secret" }];
  expect(unpack(pack({ steps }))).toEqual({ steps: [{ type: "thought", summary: "with [secret]" }] });
});
