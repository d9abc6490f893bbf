/** What the simulator refuses of the material of a start, as Google would. */

import { expect, test } from "vitest";
import { attachmentsIn, refusalOfMaterial } from "./material.ts";

const base64 = (content: string | Buffer): string => Buffer.from(content).toString("base64");
const document = (content: string | Buffer, mime_type: string) => ({
  type: "document",
  data: base64(content),
  mime_type,
});

test.each([
  [document("text", "application/msword"), "mime-unsupported"],
  [{ type: "image", data: base64("x"), mime_type: "image/svg+xml" }, "mime-unsupported"],
  [document("no PDF", "application/pdf"), "document-broken"],
  [document(Buffer.alloc(7_000_001), "text/plain"), "file-too-large"],
  [{ type: "document", mime_type: "application/pdf" }, "part-empty"],
])("a part is refused with 400: %#, %s", (part, name) => {
  const input = [{ type: "text", text: "Question?" }, part];
  expect(refusalOfMaterial({ input, tools: [] })).toMatchObject({ name, error: { code: 400 } });
});

test("documents, pictures, known stores and servers with https are accepted, and the ledger has their hashes (S7)", () => {
  const input = [document("%PDF-1.7", "application/pdf"), { type: "image", data: base64("x"), mime_type: "image/png" }];
  const tools = [
    { type: "file_search", file_search_store_names: ["fileSearchStores/demo"] },
    { type: "mcp_server", name: "crm", url: "https://crm.example.com/mcp" },
  ];
  expect(refusalOfMaterial({ input, tools })).toBeUndefined();
  expect(attachmentsIn(input)).toMatchObject([
    { type: "document", mimeType: "application/pdf", bytes: 8 },
    { type: "image", mimeType: "image/png", bytes: 1, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ]);
});

test("an unknown store is a 404, a server without https a 400", () => {
  const refusalOf = (tool: { type: string; file_search_store_names?: string[]; url?: string }) =>
    refusalOfMaterial({ input: "Question?", tools: [tool] })?.error.code;
  expect(refusalOf({ type: "file_search", file_search_store_names: ["fileSearchStores/gone"] })).toBe(404);
  expect(refusalOf({ type: "mcp_server", url: "http://crm.example.com" })).toBe(400);
});
