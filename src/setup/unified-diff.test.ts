import { expect, test } from "vitest";
import { unifiedDiff } from "./unified-diff.ts";

const diff = (before: string, after: string): string[] =>
  unifiedDiff({ file: "f", before, after, known: new Set(["known", "C:\\known"]) })
    .split("\n")
    .slice(2);

test("a change is shown with three lines around it", () => {
  expect(diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nnew\n6\n7\n8\n9\n")).toEqual([
    "@@ -2,7 +2,7 @@",
    " 2",
    " 3",
    " 4",
    "-5",
    "+new",
    " 6",
    " 7",
    " 8",
  ]);
  expect(diff("", "a\nb\n")).toEqual(["@@ -0,0 +1,2 @@", "+a", "+b"]);
  expect(diff("a\r\n", "a\r\nb\r\n")).toEqual(["@@ -1,1 +1,2 @@", " a", "+b"]);
  expect(unifiedDiff({ file: "f", before: "a", after: "a", known: new Set() })).toBe("");
});

test("names and known values are shown, other strings and comments are masked, and lines stay lines", () => {
  const line = '"API_KEY": "abc\\"def", "x": ["known", "C:\\\\known"], TOKEN = \'a\', b = "" // it\'s "c"';
  expect(diff("", line)).toEqual([
    "@@ -0,0 +1,1 @@",
    '+"API_KEY": "…", "x": ["known", "C:\\\\known"], TOKEN = \'…\', b = "" //…',
  ]);
  expect(diff("", 'a = """\nb\n\nc"""\n/* d\ne */ f\n# g').slice(1)).toEqual([
    '+a = """',
    "+…",
    "+",
    '+…"""',
    "+/*…",
    "+…*/ f",
    "+#…",
  ]);
  // A change of a redacted value is still shown as a change.
  expect(diff('a = "b"', 'a = "c"').slice(1)).toEqual(['-a = "…"', '+a = "…"']);
});
