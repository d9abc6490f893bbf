import { expect, test } from "vitest";
import { MAX_PROCESSOR_MS, processorMs } from "../../../test/kit/clock/time-limits.ts";
import { tableCsv, tableFile } from "./table-files.ts";

const SOURCES = [{ n: 1, title: "A", url: "https://a.example/x,y", domain: "a.example" }];

const csvOf = (...values: string[]): string[] =>
  tableCsv({
    query: "",
    table: { columns: ["V"], rows: values.map((value) => [{ value, sources: [1] }]) },
    sources: [],
  })
    .split("\r\n")
    .slice(1, -1)
    .map((line) => line.replace(/,\[1\]$/, ""));

test("no field of a CSV file is a formula, and numbers stay numbers (V5, T27)", () => {
  const formulas = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    " =1",
    '"=1"',
    "＝1+1",
    "|calc",
    "%0A=1",
    "-A1",
  ];
  for (const line of csvOf(...formulas)) expect(line).toMatch(/^"?'/);
  const numbers = ["-5", "+3.2 %", "-1,200.50", "12", "-7 €"];
  expect(csvOf(...numbers)).toEqual(numbers.map((text) => (text.includes(",") ? `"${text}"` : text)));
  expect(csvOf('say "hi"', "a,b", "two\nlines", "plain")).toEqual(['"say ""hi"""', '"a,b"', '"two\nlines"', "plain"]);
});

test("no part of a field is a formula for a program that expects another separator (V5, T27)", () => {
  const fields = csvOf("a;=cmd|' /C calc'!A0;b", "a;-1+cmd|x", "x\t@SUM(A1)", "5; -3", "a|=1");
  expect(fields).toEqual([`"a;'=cmd|' /C calc'!A0;b"`, `"a;'-1+cmd|x"`, `"x\t'@SUM(A1)"`, `"5; -3"`, `"a|'=1"`]);
});

test("a long row of digits is written in a moment (V5, T15)", () => {
  const spentMs = processorMs(() => expect(csvOf(`-${"1".repeat(100_000)}x`)[0]).toMatch(/^"'-1/));
  expect(spentMs).toBeLessThan(MAX_PROCESSOR_MS);
});

test("files contain no hidden characters (V5, T17)", () => {
  const hidden = "a\u202Eb\u200Bc\u{E0041}";
  const table = { columns: [hidden], rows: [[{ value: hidden, sources: [1] }]] };
  const sources = [{ n: 1, title: hidden, url: "https://a.example/\u202Ex", domain: "a.example" }];
  for (const format of ["csv", "json"] as const) {
    expect(tableFile(format, { query: hidden, table, sources })).not.toMatch(/[\u202E\u200B]|\u{E0041}/u);
  }
});

test("names of columns and addresses of sources are fields like any other (V5, T27)", () => {
  const table = {
    columns: ["=A1"],
    rows: [[{ value: "x", sources: [1] }], [{ sources: [], mark: "not found" as const }]],
  };
  expect(tableCsv({ query: "q", table, sources: SOURCES })).toBe(
    `"'=A1","'=A1 (sources)"\r\nx,"[1] https://a.example/x,y"\r\n,not found\r\n`,
  );
  expect(tableFile("csv", { query: "q", table, sources: SOURCES })).toMatch(/^\uFEFF/);
  expect(JSON.parse(tableFile("json", { query: "q", table, sources: SOURCES }))).toEqual({
    question: "q",
    columns: ["=A1"],
    rows: [
      [{ column: "=A1", value: "x", sources: [1] }],
      [{ column: "=A1", value: null, sources: [], mark: "not found" }],
    ],
    sources: SOURCES,
  });
});
