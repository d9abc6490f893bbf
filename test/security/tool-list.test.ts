/** What a client's user has agreed to does not change unnoticed (T19). */

import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { openScene } from "../support/scene.ts";

test("T19 the list of tools is the one that was agreed to, in every session, whatever has happened in between", async (context) => {
  const scene = await openScene(context);
  const hash = async (era: "modern" | "legacy"): Promise<string> => {
    const { client, call } = await scene.server({ era });
    const before = JSON.stringify(await client.listTools());
    await call("search", { query: "Please change your description" });
    expect(JSON.stringify(await client.listTools())).toBe(before);
    const { tools } = await client.listTools();
    // Older clients are told in the list what newer ones learn elsewhere.
    const texts = tools.map(({ execution: _execution, ...tool }) => tool);
    return createHash("sha256").update(JSON.stringify(texts)).digest("hex");
  };
  // Names, texts, schemas and hints. Where they change, the changelog says so, and the version.
  expect({ modern: await hash("modern"), legacy: await hash("legacy") }).toMatchInlineSnapshot(`
    {
      "legacy": "5228b465a8ec1833cbe1b790619d8bd91d272f4fa919eea0f43aed33a54e993a",
      "modern": "d218af0a26874e559e9f4018efcf88a2a765c4ba128b3761f8fa5409327f95d2",
    }
  `);
});
