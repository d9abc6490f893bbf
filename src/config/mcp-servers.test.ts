import { expect, test } from "vitest";
import { headersOf, headerValues, mcpServers } from "./mcp-servers.ts";

const CRM = { url: "https://crm.example.com/mcp", headers: { Authorization: "Bearer ${CRM_TOKEN}", "X-Team": "a" } };

test("servers are an object of names with an https address, headers and tools (V3)", () => {
  expect(mcpServers.parse(JSON.stringify({ crm: { ...CRM, allowed_tools: ["find"] } }))).toEqual({
    crm: { ...CRM, allowed_tools: ["find"] },
  });
  for (const wrong of [
    "{",
    "[]",
    '{"crm":"https://crm.example.com"}',
    '{"crm":{"url":"http://crm.example.com"}}',
    '{"crm":{"url":"https://crm.example.com","command":"sh"}}',
    '{"a b":{"url":"https://crm.example.com"}}',
    '{"crm":{"url":"https://crm.example.com","headers":{"a:b":"c"}}}',
  ])
    expect(mcpServers.safeParse(wrong).success, wrong).toBe(false);
});

test("variables in headers are filled in from the environment, a missing one is named, and values are redacted (V3)", () => {
  const environment = { CRM_TOKEN: " secret-token " };
  expect(headersOf(CRM, environment)).toEqual({ headers: { Authorization: "Bearer secret-token", "X-Team": "a" } });
  expect(headersOf(CRM, { CRM_TOKEN: " " })).toEqual({ missing: "CRM_TOKEN" });
  const literal = { url: CRM.url, headers: { "X-Api-Key": "literal-key" } };
  expect(headerValues({ crm: CRM, other: literal }, environment)).toEqual({
    "crm Authorization": "Bearer ${CRM_TOKEN}",
    CRM_TOKEN: "secret-token",
    "other X-Api-Key": "literal-key",
  });
});
