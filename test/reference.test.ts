/** A reference that drifted is worse than none. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { reference } from "../scripts/reference.ts";

test("docs/reference.md is what the definitions say (npm run reference renews it)", () => {
  expect(readFileSync(join(import.meta.dirname, "../docs/reference.md"), "utf8")).toBe(reference());
});
