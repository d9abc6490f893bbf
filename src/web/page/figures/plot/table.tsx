/** The data of a plot as a table, for screen readers and exact values; rendered when opened. */

import { useState } from "preact/hooks";
import { runPath } from "../../app/router.ts";

const PAGE_ROWS = 50;

interface PlotRow {
  taskId: string;
  query: string;
  cells: string[];
}

interface PlotTableProps {
  caption: string;
  columns: string[];
  count: number;
  rows: () => PlotRow[];
}

export function PlotTable({ caption, columns, count, rows }: PlotTableProps) {
  const [isOpen, setOpen] = useState(false);
  const [limit, setLimit] = useState(PAGE_ROWS);
  return (
    <details class="plot-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen ? (
        <>
          <div class="table-scroll" tabIndex={0} role="region" aria-label={caption}>
            <table>
              <caption>{caption}</caption>
              <thead>
                <tr>
                  <th scope="col">Run</th>
                  {columns.map((column) => (
                    <th key={column} scope="col">
                      {column}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows()
                  .slice(0, limit)
                  .map(({ taskId, query, cells }) => (
                    <tr key={taskId}>
                      <th scope="row">
                        <a href={runPath(taskId)}>{query.length > 80 ? `${query.slice(0, 80)}…` : query}</a>
                      </th>
                      {cells.map((cell, index) => (
                        <td key={columns[index]}>{cell}</td>
                      ))}
                    </tr>
                  ))}
              </tbody>
            </table>
          </div>
          {count > limit ? (
            <button type="button" class="button small" onClick={() => setLimit(limit + PAGE_ROWS)}>
              Show more ({count - limit} left)
            </button>
          ) : null}
        </>
      ) : null}
    </details>
  );
}
