import { expect, test } from "vitest";
import { startDeepResearch } from "../operations/start-deep-research.ts";
import { consentTo } from "./consent.ts";

test("a yes to another question of the page is no consent to this operation (T28)", () => {
  const agreed = { operation: "resume_research", input: "shown", max_usd: 2 };
  const consent = consentTo({ operation: startDeepResearch, input: { query: "How deep is the lake?" }, agreed });
  expect(consent).toMatchObject({ operation: "resume_research", max_usd: 2 });
});
