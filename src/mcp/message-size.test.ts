import { expect, test } from "vitest";
import { boundedDocument, boundedToolResult } from "./message-size.ts";

const MAX = 8_000_000;
const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const text = (content: string) => ({ type: "text" as const, text: content });

test("a result that fits is sent unchanged (K1)", () => {
  const result = { content: [text("short")], structuredContent: { success: true }, isError: false };
  expect(boundedToolResult(result)).toBe(result);
});

test("a result above 8 MB is replaced by hints how to read its run (K3)", () => {
  const report = "漢\n".repeat(1_200_000);
  const metadata = { task_id: "t-1", sources_visited: ["https://a.example/"] };
  const result = boundedToolResult({
    content: [text(report)],
    structuredContent: { success: true, result: report, metadata },
  });
  expect(sizeOf(result)).toBeLessThan(2_000);
  expect(result.structuredContent).toEqual({
    success: true,
    task_id: "t-1",
    note: expect.stringMatching(/8 MB.*get_research_results.*section sources.*save_research_to_markdown/),
  });
  expect(result.content).toEqual([text(expect.stringContaining("t-1"))]);
});

test("an error above 8 MB keeps its code and message (A6)", () => {
  const error = {
    code: "EXECUTION_ERROR",
    message: "No usable answer.",
    details: { best_text: "x".repeat(9_000_000) },
  };
  const structuredContent = { success: false, error, task_id: "t-1", status: "failed" };
  expect(boundedToolResult({ content: [text("long")], structuredContent, isError: true })).toMatchObject({
    isError: true,
    structuredContent: {
      success: false,
      error: { code: "EXECUTION_ERROR", message: "No usable answer." },
      task_id: "t-1",
      status: "failed",
    },
  });
});

test("pictures are left out before any text (S2)", () => {
  const image = { type: "image" as const, data: "A".repeat(9_000_000), mimeType: "image/png" };
  const result = boundedToolResult({ content: [text("report"), image], structuredContent: { success: true } });
  expect(result.content).toEqual([text("report"), text(expect.stringContaining("pictures are left out"))]);
});

test.each(["Some words.\n", "漢字\n", "\u2028", '"\n'])(
  "a document of megabytes of %j ends with a hint how to read the rest (K3)",
  (piece) => {
    const whole = piece.repeat(12_000_000 / piece.length);
    const document = boundedDocument(whole);
    expect(sizeOf(document)).toBeLessThanOrEqual(MAX);
    expect(document).toMatch(/get_research_results.*save_research_to_markdown.*\n$/);
    const [kept = ""] = document.split("\n\n---\n\n");
    expect(whole.startsWith(kept)).toBe(true);
    expect(sizeOf(kept)).toBeGreaterThan(MAX / 3);
  },
);
