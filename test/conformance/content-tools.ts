/** Fixtures for every kind of content, errors, progress, log messages and schemas. */

import { setTimeout as wait } from "node:timers/promises";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { type Fixture, named, textResult } from "./fixture.ts";

/** One red pixel, and an empty sound file. */
export const PIXEL = {
  type: "image" as const,
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==",
  mimeType: "image/png",
};
const SILENCE = {
  type: "audio" as const,
  data: "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=",
  mimeType: "audio/wav",
};

export const embedded = (uri: string, mimeType: string, text: string) => ({
  type: "resource" as const,
  resource: { uri, mimeType, text },
});

const fixed = (name: string, description: string, content: CallToolResult["content"]): Fixture => ({
  tool: named(name, description),
  run: () => ({ content }),
});

/** A schema with every keyword of JSON Schema 2020-12 that a listing could lose. */
const RICH_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object" as const,
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema; a schema is never awaited
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** Long enough for a client to see the messages one by one. */
const BETWEEN_MESSAGES_MS = 50;

async function logged({ context }: Parameters<Fixture["run"]>[0]): Promise<CallToolResult> {
  for (const message of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
    await context.mcpReq.log("info", message);
    await wait(BETWEEN_MESSAGES_MS);
  }
  return textResult("Three messages were logged.");
}

export const CONTENT_TOOLS: Fixture[] = [
  fixed("test_simple_text", "Returns a text.", [{ type: "text", text: "This is a simple text response for testing." }]),
  fixed("test_image_content", "Returns an image.", [PIXEL]),
  fixed("test_audio_content", "Returns a sound.", [SILENCE]),
  fixed("test_embedded_resource", "Returns a resource.", [
    embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),
  ]),
  fixed("test_multiple_content_types", "Returns a text, an image and a resource.", [
    { type: "text", text: "Multiple content types test:" },
    PIXEL,
    embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  ]),
  {
    tool: named("test_error_handling", "Always fails."),
    run: () => {
      throw new Error("This tool intentionally returns an error for testing");
    },
  },
  {
    tool: named("test_tool_with_progress", "Reports progress three times."),
    run: async ({ progress }) => {
      for (const message of ["Started", "Half done", "Done"]) {
        progress(message);
        await wait(BETWEEN_MESSAGES_MS);
      }
      return textResult("Progress was reported three times.");
    },
  },
  { tool: named("test_tool_with_logging", "Logs three messages."), run: logged },
  { tool: named("test_logging_tool", "Logs three messages, for clients that set a log level."), run: logged },
  {
    tool: { name: "json_schema_2020_12_tool", description: "Has a rich input schema.", inputSchema: RICH_SCHEMA },
    run: () => textResult("The schema was understood."),
  },
];
