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
      "legacy": "ca1c03b6e5b6077dafeadc7986575f4a77c1ad036b0b1833589670bd9dab7e37",
      "modern": "69eac502efba2c4f5342dfc2c629bb7295661650df6d7d237e4cdcc1ca707605",
    }
  `);
});
