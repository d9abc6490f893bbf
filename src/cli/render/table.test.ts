import { expect, test } from "vitest";
import { type Column, tableLines } from "./table.ts";
import { widthOf } from "./text-width.ts";

interface Row {
  id: string;
  cost: string;
  text: string;
}

const COLUMNS: Column<Row>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "COST", cell: ({ cost }) => cost, align: "right", dropped: 1 },
  { title: "TEXT", cell: ({ text }) => text },
];
const ROWS = [
  { id: "3f2a9c1e", cost: "$1.47", text: "日本のヒートポンプ市場はどうなっていますか" },
  { id: "77aa00bb", cost: "$12.00", text: "short" },
];

test("the last column is cut to the width, counting wide characters", () => {
  const lines = tableLines(COLUMNS, ROWS, { width: 40 });
  expect(lines).toEqual([
    "ID          COST  TEXT",
    "3f2a9c1e   $1.47  日本のヒートポンプ市…",
    "77aa00bb  $12.00  short",
  ]);
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(40);
});

test("a less important column is dropped before the text gets too short", () => {
  expect(tableLines(COLUMNS, ROWS, { width: 30 })[0]).toBe("ID        TEXT");
});

test("nothing is cut in output for scripts", () => {
  const columns: Column<string>[] = [
    { title: "A", cell: (cell) => cell },
    { title: "B", cell: () => "y", dropped: 1 },
  ];
  expect(tableLines(columns, ["x".repeat(50)], { width: undefined })).toEqual([
    `A${" ".repeat(51)}B`,
    `${"x".repeat(50)}  y`,
  ]);
});
