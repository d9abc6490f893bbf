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
      "legacy": "b1ffd77a7e47a7e494708b6b47204e7fbbf1c8f1a965e961cec032e59768bcbd",
      "modern": "e4a922d6f6cefdf5fa1a6bbcd195d8ec339ba2847d4a94cccdba374d8ce2868e",
    }
  `);
});
