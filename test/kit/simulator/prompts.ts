/** The product's own prompts, filled in for tests, which the simulator must be able to parse. */

import { readFileSync } from "node:fs";

type PromptName = "search" | "deep-search" | "verify" | "research" | "correction";

const WITH_VERDICT: readonly PromptName[] = ["deep-search", "verify"];

const exampleFor = (name: PromptName): string =>
  JSON.stringify({
    success: true,
    ...(WITH_VERDICT.includes(name) && { verified: false }),
    report: "<your whole report in Markdown>",
    metadata: { sources_visited: ["<address>"], search_queries_used: ["<query>"] },
  });

export function fillPrompt(name: PromptName, values: Record<string, string>): string {
  const file = new URL(`../../../prompts/${name}-prompt.md`, import.meta.url);
  const all: Record<string, string> = {
    date: "2026-11-15",
    fence: "f3nc3",
    max_rounds: "5",
    round: "2",
    depth: "concise",
    file: "/tmp/invalid.txt",
    example: exampleFor(name),
    ...values,
  };
  return readFileSync(file, "utf8").replaceAll(/\{\{(\w+)\}\}/g, (_, key: string) => all[key] ?? "");
}
