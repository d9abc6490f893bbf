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
      "legacy": "60b25d6af1af823e4615e4eb37c043c3fd63729b436c11ac1adbc1a36016fe2f",
      "modern": "ce797bf5545727f0bde2e20bc34759426a11df4c879e20159e252bc6a10f7458",
    }
  `);
});
