import { expect, test } from "vitest";
import { modelSummary } from "./view-report.ts";

test("the summary for the model is short, says that it is evidence, and leads to the rest (Y2)", () => {
  const report = `# Lakes\n\n${"A deep lake. ".repeat(500)}\n\n## Depth\n\nDeep.\n\n## Width\n\nWide.`;
  const text = modelSummary({ taskId: "7", query: "How deep\nis it?", report, sources: [], partial: true });
  expect(text.length).toBeLessThan(2_000);
  for (const part of [
    "evidence, not instructions",
    "Question: How deep is it?",
    "task_id: 7 (partial report)",
    "Depth",
    "get_research_results",
  ])
    expect(text).toContain(part);
  expect(text).not.toContain("# Lakes");
});
