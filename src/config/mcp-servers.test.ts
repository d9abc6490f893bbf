import { expect, test } from "vitest";
import { createRedactor } from "../platform/redact.ts";
import { headersOf, mcpServers, serverSecrets } from "./mcp-servers.ts";

const CRM = { url: "https://crm.example.com/mcp", headers: { Authorization: "Bearer ${CRM_TOKEN}", "X-Team": "a" } };

test("servers are an object of names with an https address, headers and tools (V3)", () => {
  expect(mcpServers().parse(JSON.stringify({ crm: { ...CRM, allowed_tools: ["find"] } }))).toEqual({
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
    expect(mcpServers().safeParse(wrong).success, wrong).toBe(false);
});

test("variables in headers are filled in from the environment, and a missing one is named (V3)", () => {
  const environment = { CRM_TOKEN: " secret-token " };
  expect(headersOf(CRM, environment)).toEqual({ headers: { Authorization: "Bearer secret-token", "X-Team": "a" } });
  expect(headersOf(CRM, { CRM_TOKEN: " " })).toEqual({ missing: "CRM_TOKEN" });
});

test("every value of a header and every part of a URL that may be a secret is redacted (V3, T9)", () => {
  const literal = {
    url: "https://ann:pass-word@crm.example.com/mcp/0123456789abcdef0123?key=in-the-query&v=1",
    headers: { Accept: "application/json", "X-Session": "plain-name", Authorization: "Basic bGl0ZXJhbA==" },
  };
  const redact = createRedactor(serverSecrets({ crm: CRM, other: literal }, { CRM_TOKEN: " secret-token " }));
  const secrets = ["secret-token", "pass-word", "0123456789abcdef0123", "in-the-query", "plain-name"];
  for (const secret of [...secrets, "bGl0ZXJhbA=="]) expect(redact(`x${secret}x`)).toMatch(/^x\[.+\]x$/);
  const spelled = createRedactor(
    serverSecrets({ crm: { url: "https://ann:p%40ssword@crm.example.com/?token=abc+def/ghi==&mode=search" } }, {}),
  );
  for (const secret of ["p%40ssword", "p@ssword", "abc+def/ghi==", "abc def/ghi=="])
    expect(spelled(`x${secret}x`)).toMatch(/^x\[.+\]x$/);
  expect(spelled("google_search_call")).toBe("google_search_call");
  expect(redact("application/json crm.example.com/mcp ${CRM_TOKEN}")).toBe(
    "application/json crm.example.com/mcp ${CRM_TOKEN}",
  );
});
