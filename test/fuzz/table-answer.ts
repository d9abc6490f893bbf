/** Fuzz target: whatever a model answers, a table has its columns, known source numbers, and no formula (V5, T27). */

import { readTable } from "../../src/reports/table/read-table.ts";
import { tableCsv } from "../../src/reports/table/table-files.ts";
import { storedTableMarkdown } from "../../src/reports/table/table.ts";
import { type FuzzTarget, must, mustBeUnpolluted, mustBeVisible } from "./target.ts";

const COLUMNS = ["Maker", "Price"];
/** A field of a CSV line with the comma before it. */
const FIELD = /(?:^|,)(?:"(?:[^"]|"")*"|[^",]*)/g;
const KNOWN = new Set([1, 2, 3]);

export const tableAnswer: FuzzTarget = {
  name: "table answers",
  seeds: [
    '{"rows":[{"c1":{"value":"Nord","sources":[1]},"c2":{"value":"=1+1","sources":[3,99]}}]}',
    '```json\n[["a | b","-2"],[{"value":"x [cite: 2]"}]]\n```',
    '{"rows":[{"maker":"Nord","price":null}]',
  ],
  words: ['"rows"', '"c1"', '"c2"', '"value"', '"sources"', "[cite: 1]", "|", "=", "@", "\\u202e", "__proto__", "1e9"],
  open: () => ({
    check: (input) => {
      const found = readTable(input, { columns: COLUMNS, known: KNOWN });
      mustBeUnpolluted();
      if (found === undefined) return "none";
      const { table, cut } = found;
      for (const cell of table.rows.flat()) {
        must(
          cell.sources.every((n) => KNOWN.has(n)),
          "A cell names only sources that exist.",
        );
        must((cell.sources.length === 0) === (cell.mark !== undefined), "A cell without a source is marked.");
        must((cell.value === undefined) === (cell.mark === "not found"), "An absent value is not found.");
        mustBeVisible(cell.value ?? "", "A cell");
      }
      const lines = storedTableMarkdown(table).report.trimEnd().split("\n");
      must(lines.length === table.rows.length + 2, "Each row is one line.");
      must(
        lines.every((line) => line.match(/(?<!\\)(?:\\\\)*\|/g)?.length === 3),
        "No value ends its cell.",
      );
      const csv = tableCsv({ query: "", table, sources: [] }).split("\r\n");
      const fields = csv.flatMap((line) => line.match(FIELD) ?? []);
      must(!fields.some((field) => /^,?"?[=@]/.test(field)), "No field is a formula.");
      return `${cut} ${Math.min(table.rows.length, 3)}`;
    },
  }),
};
