/** Tokens of a real tokenizer that answers cost in a model's context; independent of the machine. */

import { ANSWERS, measureAnswers, REDIRECT_LINKS_BUDGET, TOKEN_BUDGET } from "../test/kit/server/answer-tokens.ts";
import type { Figure, Table } from "./report.ts";

export async function tokens(): Promise<Table> {
  const rows: string[][] = [];
  const figures: Figure[] = [];
  let passed = true;
  for (const [sources, scenario] of Object.entries(ANSWERS)) {
    const endings: (() => Promise<void> | void)[] = [];
    const measured = await measureAnswers({ onTestFinished: (close) => void endings.unshift(close) }, scenario);
    for (const close of endings) await close();
    for (const { tool, structured, text } of measured) {
      const budgets = scenario === ANSWERS["addresses of pages"] ? TOKEN_BUDGET : REDIRECT_LINKS_BUDGET;
      const budget = budgets[tool] ?? 0;
      const value = Math.max(structured, text);
      const isWithin = value <= budget;
      if (!isWithin) passed = false;
      figures.push({ what: `tokens of \`${tool}\`, ${sources}`, value, limit: budget });
      rows.push([
        `\`${tool}\`, ${sources}`,
        String(structured),
        String(text),
        `≤ ${budget}: ${isWithin ? "met" : "missed"}`,
      ]);
    }
  }
  return {
    title: "Tokens of typical answers (o200k)",
    columns: ["answer", "structured content", "text", "target, of the larger"],
    rows,
    notes: [
      "A client shows its model one of the two forms. A redirect link of Google takes about 65 tokens and is passed on unchanged.",
    ],
    figures,
    passed,
  };
}
