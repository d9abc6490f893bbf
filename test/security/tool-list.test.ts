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
      "legacy": "e2fb868c33654276916b7ac2deaf743f21c3d03767735052317f4a078bb8383c",
      "modern": "f42178b86000c9eba6dba70175529d819d2e061aeb892a7d55a18447532555ca",
    }
  `);
});
