import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_PROCESSOR_MS, processorMs } from "../../../test/kit/clock/time-limits.ts";
import { readTable } from "./read-table.ts";
import { storedTableMarkdown, tableText } from "./table.ts";

const ASKED = { columns: ["Maker", "Price"], known: new Set([1, 2, 3]) };
const read = (text: string) => readTable(text, ASKED);
const WHOLE = '{"rows":[{"c1":{"value":"Nord","sources":[1]},"c2":{"value":"12","sources":[3,1]}}]}';
const NORD = [
  { value: "Nord", sources: [1] },
  { value: "12", sources: [1, 3] },
];

test.for([
  ["as it was asked for", WHOLE],
  ["in a fence after a sentence", `Here it is:\n\`\`\`json\n${WHOLE}\n\`\`\``],
  ["as a bare list", WHOLE.slice(8, -1)],
  ["with column names as keys", WHOLE.replaceAll("c1", "maker").replaceAll("c2", " Price")],
  ["with positions instead of keys", '{"rows":[[{"value":"Nord","sources":[1]},{"value":12,"sources":["3",1]}]]}'],
  ["with marks in the values", '{"rows":[{"c1":"Nord [1]","c2":"12 [cite: 3, 1]"}]}'],
] as const)("a table %s is read (V5)", ([, text]) => {
  expect(read(text)).toEqual({ table: { columns: ASKED.columns, rows: [NORD] }, cut: false });
});

test("a table that was cut keeps its complete rows, and says so (V5)", () => {
  const row = WHOLE.slice(9, -2);
  const second = row.replace("Nord", 'Süd \\"}], {');
  const two = `{"rows":[${row},${second}]}`;
  for (let end = two.indexOf(row) + row.length; end < two.length; end += 1) {
    const found = read(two.slice(0, end));
    const isWhole = end >= two.indexOf(second) + second.length;
    expect(found).toMatchObject({ cut: true, table: { rows: { length: isWhole ? 2 : 1 } } });
    expect(found?.table.rows[0]).toEqual(NORD);
  }
  expect(read(two.slice(0, 20))).toBeUndefined();
});

test("a cell without a value is not found, one without a source is marked, and unknown numbers are named (V5)", () => {
  const cells = (c1: unknown, c2: unknown) => read(JSON.stringify({ rows: [{ c1, c2 }] }))?.table.rows[0];
  expect(cells({ value: "Nord", sources: [9, 2.5, "x", 2, 2] }, { value: " ", sources: [1] })).toEqual([
    { value: "Nord", sources: [2], unknown_sources: [9] },
    { sources: [], mark: "not found" },
  ]);
  expect(cells({ value: "Nord", sources: [9] }, null)).toEqual([
    { value: "Nord", sources: [], mark: "no source", unknown_sources: [9] },
    { sources: [], mark: "not found" },
  ]);
  // A row without any value is none, and other data is no table.
  expect(read('{"rows":[{"c1":{"value":""}}]}')).toBeUndefined();
  expect(read('{"rows":[]}')?.table.rows).toEqual([]);
  for (const text of ["", "No table.", "{}", "[1,2]", '{"rows":"none"}', '{"__proto__":{"rows":[]}}'])
    expect(read(text)).toBeUndefined();
});

test("sources that are nested thousands of times are no sources, and no error (V5, T15)", () => {
  const nested = `${"[".repeat(10_000)}1${"]".repeat(10_000)}`;
  const found = read(
    `{"rows":[{"c1":{"value":"Nord","sources":[1,${nested}]},"c2":{"value":"12","sources":${nested}}}]}`,
  );
  expect(found?.table.rows).toEqual([
    [
      { value: "Nord", sources: [1] },
      { value: "12", sources: [], mark: "no source" },
    ],
  ]);
});

test("a cell of 100,000 spaces is read in a moment (V5, T15)", () => {
  const text = JSON.stringify({ rows: [{ c1: `Nord${" ".repeat(100_000)}[1]`, c2: `12 ${"\n".repeat(100_000)}x` }] });
  expect(processorMs(() => read(text))).toBeLessThan(MAX_PROCESSOR_MS);
  expect(read(text)?.table.rows).toEqual([
    [
      { value: "Nord", sources: [1] },
      { value: "12 x", sources: [], mark: "no source" },
    ],
  ]);
});

test("as Markdown no value leaves its cell or becomes markup, and each citation covers its mark (V5)", () => {
  const value = fc.string({ unit: fc.constantFrom("|", "\\", "`", "[", "]", "(1)", "<b>", "*", "é", "\n", "1", " ") });
  fc.assert(
    fc.property(fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 4 }), (values) => {
      const rows = values.map(([one, two]) => [
        { value: one, sources: [1, 3] },
        { value: two, sources: [2], unknown_sources: [7] },
      ]);
      const table = { columns: ["A|B", "C"], rows };
      const { report, citations } = storedTableMarkdown(table);
      const unescaped = /(?<!\\)(?:\\\\)*\|/g;
      for (const text of [report.trimEnd(), tableText(table)]) {
        const lines = text.split("\n");
        expect(lines).toHaveLength(rows.length + 2);
        for (const line of lines) expect(line.match(unescaped)).toHaveLength(3);
      }
      const marks = citations.map(({ start, end }) => report.slice(start, end));
      expect(marks).toEqual(rows.flatMap(() => ["[cite: 1, 3]", "[cite: 1, 3]", "[cite: 2]"]));
    }),
  );
});
