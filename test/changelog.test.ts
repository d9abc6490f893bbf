/** The changelog keeps its form, which several changes at once can break unnoticed. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

/** Every line that may follow the introduction. */
const FORMS = [
  /^$/,
  /^## \[\d+\.\d+\.\d+\] - (?:unreleased|\d{4}-\d{2}-\d{2}(?:, not published)?)$/,
  /^### (?:Added|Changed|Deprecated|Removed|Fixed|Security)$/,
  /^- \*\*[^*]+\.\*\* \S/,
];

test("the changelog follows Keep a Changelog and begins with the version of the package (X5)", () => {
  const [, ...sections] = read("CHANGELOG.md").split(/^(?=## )/m);
  expect(sections[0]).toContain(`## [${JSON.parse(read("package.json")).version}]`);
  const lines = sections.join("").split("\n");
  expect(lines.length).toBeGreaterThan(80);
  expect(lines.filter((line) => !FORMS.some((form) => form.test(line)))).toEqual([]);
});
