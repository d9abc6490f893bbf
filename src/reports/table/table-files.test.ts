import { expect, test } from "vitest";
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
