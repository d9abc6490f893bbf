import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { renderTemplate, type TemplateValues } from "./report-template.ts";
import { createTestLog } from "../../../test/kit/log.ts";
import { MAX_PROCESSOR_MS, processorMs } from "../../../test/kit/clock/time-limits.ts";

const VALUES: TemplateValues = {
  title: "Heat",
  date: undefined,
  partial: undefined,
  note: undefined,
  metadata: undefined,
  body: "Warm {{ title }} {% include 'x' %}.",
  sources: [{ n: 1, title: "A", link: "[A](https://a.example/)", url: "https://a.example/", site: "a.example" }],
};

const OURS =
  "# Heat\n\nWarm {{ title }} {% include 'x' %}.\n\n## Sources\n\n- \\[1\\] [A](https://a.example/) (a.example)";

function renderWith(template: string | undefined): { text: string; lines: string[] } {
  const own = mkdtempSync(join(tmpdir(), "gemini-search-templates-"));
  onTestFinished(() => rmSync(own, { recursive: true }));
  if (template !== undefined) writeFileSync(join(own, "report.md.liquid"), template);
  const lines: string[] = [];
  const log = createTestLog((line) => lines.push(line));
  return { text: renderTemplate(VALUES, { own, log }).trimEnd(), lines };
}

test("a report is rendered by the user's own template, and its text is never parsed as one (N4)", () => {
  const template =
    "{{ title | upcase }}\n{{ body }}\n{% for source in sources %}{{ source.n }} {{ source.url }}{% endfor %}";
  expect(renderWith(template)).toEqual({
    text: "HEAT\nWarm {{ title }} {% include 'x' %}.\n1 https://a.example/",
    lines: [],
  });
});

test("without a template of the user's ours is used (N4)", () => {
  expect(renderTemplate(VALUES, undefined).trimEnd()).toBe(OURS);
  expect(renderWith(undefined)).toEqual({ text: OURS, lines: [] });
});

test("a slow template is aborted after a tenth of a second (N4)", () => {
  const loops =
    "{% assign r = (1..400) %}{% for a in r %}{% for b in r %}{% for c in r %}x{% endfor %}{% endfor %}{% endfor %}";
  expect(
    processorMs(() => expect(renderWith(loops)).toEqual({ text: OURS, lines: [expect.any(String)] })),
  ).toBeLessThan(MAX_PROCESSOR_MS);
});

test.each([
  "{% if",
  "{{ title | no_such_filter }}",
  "{% include 'report.md.liquid' %}",
  "{% render '../../../etc/passwd' %}",
  "{% layout '/etc/passwd' %}",
  "{% for n in (1..100000000) %}{{ body }}{% endfor %}",
  "x".repeat(100_001),
])("a template that is broken, reads files or never ends falls back to ours, with a warning (N4)", (template) => {
  const { text, lines } = renderWith(template);
  expect(text).toBe(OURS);
  expect(lines).toEqual([
    expect.stringMatching(/^\[WARN\] report\.md\.liquid in GEMINI_SEARCH_TEMPLATES_DIR failed \(.+\)/),
  ]);
});
