/** The stored results of the lab. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keepResult } from "../../lab/reliability.ts";
import { temporaryDirectory } from "../kit/server/server.ts";

test("a shorter run does not replace a stored result, unless it is meant to (Y5)", () => {
  const directory = temporaryDirectory();
  const common = { name: "kills", about: "", covers: "", date: "", commit: "", machine: "", findings: [], seconds: 1 };
  const keep = (scale: number, replace = false): boolean =>
    keepResult({ ...common, scale, command: `--scale ${scale}` }, { replace }, directory);
  const stored = (): unknown => JSON.parse(readFileSync(join(directory, "kills.json"), "utf8"));
  expect([keep(0.5), keep(1), keep(0.01), keep(1)]).toEqual([true, true, false, true]);
  expect(stored()).toMatchObject({ command: "--scale 1" });
  expect(keep(0.01, true)).toBe(true);
  expect(stored()).toMatchObject({ command: "--scale 0.01" });
});
