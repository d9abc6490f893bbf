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
      "legacy": "b6836064d9e6ca0dfc658a849c2c36122dc06dd6e9245458c5d220ba8edeb6ae",
      "modern": "bcb3045a76db81e7e8e74d11b513078d51e979a0eaf3859725ca781952e9f10e",
    }
  `);
});
