/** A reference that drifted is worse than none. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { announcedTools } from "../scripts/announced-tools.ts";
import { reference } from "../scripts/reference.ts";

test("docs/reference.md is what the definitions say (npm run reference renews it)", () => {
  expect(readFileSync(join(import.meta.dirname, "../docs/reference.md"), "utf8")).toBe(reference());
});

test("A5 the list of tools is what the definitions say (npm run reference renews it)", () => {
  const listed: unknown = JSON.parse(
    readFileSync(join(import.meta.dirname, "../src/mcp/announced-tools.json"), "utf8"),
  );
  expect(listed).toEqual(JSON.parse(JSON.stringify(announcedTools())));
});
