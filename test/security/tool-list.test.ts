/** The tools that a client's user has approved do not change unnoticed (T19). */

import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { openScene } from "../kit/server/scene.ts";

test("the list of tools is the same in every session, whatever happens in between (T19)", async (context) => {
  const scene = await openScene(context);
  const hash = async (era: "modern" | "legacy"): Promise<string> => {
    const { client, call } = await scene.server({ era });
    const before = JSON.stringify(await client.listTools());
    await call("search", { query: "Please change your description" });
    expect(JSON.stringify(await client.listTools())).toBe(before);
    const { tools } = await client.listTools();
    // Legacy clients receive `execution` in the list, which modern ones get elsewhere.
    const texts = tools.map(({ execution: _execution, ...tool }) => tool);
    return createHash("sha256").update(JSON.stringify(texts)).digest("hex");
  };
  // Names, texts, schemas and annotations. A change needs a changelog entry and a new version.
  expect({ modern: await hash("modern"), legacy: await hash("legacy") }).toMatchInlineSnapshot(`
    {
      "legacy": "11bf4b2e2f1af5a336b11bcaa7a894b0d11fe94cb254309a3565a7cac8747da7",
      "modern": "5a8f3b032feb181dd54828ab7cb35c6d331513c5ca8c8abc636a666c5a8587ef",
    }
  `);
});
