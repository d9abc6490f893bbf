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
      "legacy": "63e9c4014fef48bf570d54147532920f08da9587c7f954d84b7b078a76f80262",
      "modern": "a37f1862aaabdeba3f93b0012c79ef5a4722675052a44f561fa22ef0503fc371",
    }
  `);
});
