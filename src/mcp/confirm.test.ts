import type { ServerContext } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { questionSeal, type SealOptions } from "./confirm.ts";

const SECRETS = { apiKey: "a-key", databaseUrl: undefined };
const OPTIONS: SealOptions = { secrets: SECRETS, owner: "ann", ttlMs: 600_000 };
const QUESTION = { subject: { operation: "start_deep_research", input: "a hash" }, details: "jobs", newTaskId: "a" };
const context: ServerContext = Object.create(null);

test("a seal is read by every process with the same key, for the same user and in time only (T28)", async () => {
  const sealed = await questionSeal(OPTIONS).mint(QUESTION, context);
  expect(sealed).not.toContain(SECRETS.apiKey);
  expect(await questionSeal({ ...OPTIONS }).verify(sealed, context)).toEqual(QUESTION);
  const others: Partial<SealOptions>[] = [
    { secrets: { ...SECRETS, apiKey: "another" } },
    { secrets: { ...SECRETS, apiKey: undefined } },
    { owner: "ben" },
  ];
  for (const other of others) {
    await expect(questionSeal({ ...OPTIONS, ...other }).verify(sealed, context)).rejects.toThrow(/^(?:mac|bind)$/);
  }
  const expired = await questionSeal({ ...OPTIONS, ttlMs: -10_000 }).mint(QUESTION, context);
  await expect(questionSeal(OPTIONS).verify(expired, context)).rejects.toThrow("expired");
});
