import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { AppError } from "../../errors.ts";
import { saveMarkdown, type SaveRequest } from "./save-markdown.ts";

test("a report is rendered once, with and without pictures, even if it cannot be saved (N2)", async () => {
  const directory = mkdtempSync(join(tmpdir(), "gemini-search-save-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const folders: string[] = [];
  const text = (folder: string): string => {
    folders.push(folder);
    return "# Report\n";
  };
  const save = (over: Partial<SaveRequest> = {}) =>
    saveMarkdown({ directory, named: { prefix: "research", taskId: "t" }, text, now: 0, ...over });
  const facts = { n: 1, mimeType: "image/png", width: 1, height: 1, byteLength: 9, hash: "", offset: 0 } as const;
  await save();
  expect(folders).toEqual([""]);
  await save({ pictures: [{ ...facts, content: Buffer.from("a picture") }] });
  expect(folders).toEqual(["", expect.stringContaining("research_")]);
  writeFileSync(join(directory, "file"), "");
  await expect(save({ directory: join(directory, "file") })).rejects.toBeInstanceOf(AppError);
  expect(folders).toHaveLength(3);
});
