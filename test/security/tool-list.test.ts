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
      "legacy": "c905f96673459889e38050ca7f55c24f73320a8a0ae7c1bcf4599726fc17273d",
      "modern": "7cadd6add64c622703ac2324e8496c6d5f6155f56b2a5c4a562afd1013b9ec79",
    }
  `);
});
