import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../config/config.ts";
import { checkPrices } from "./doctor.ts";

test("a price that changes soon to a known one is no reason to act, an old table is (S6)", () => {
  const GEMINI_SEARCH_CONFIG_DIR = mkdtempSync(join(tmpdir(), "gemini-search-prices-"));
  onTestFinished(() => rmSync(GEMINI_SEARCH_CONFIG_DIR, { recursive: true, force: true }));
  const config = loadConfig({ environment: { GEMINI_SEARCH_CONFIG_DIR } });
  const on = (day: string) => checkPrices(config, { models: ["gemini-4-argon"], now: Date.parse(`${day}T12:00:00Z`) });
  expect(on("2026-11-20")).toEqual([
    { name: "prices", status: "ok", message: expect.stringContaining("From 2026-12-01 gemini-4-argon costs $4 in") },
  ]);
  expect(on("2027-03-20")).toMatchObject([{ status: "warn", remedy: expect.stringContaining("Update") }]);
});
