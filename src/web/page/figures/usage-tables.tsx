/** Tables of the usage by day, month and user, with a bar for each cost. */

import type { ComponentChildren } from "preact";
import type { Figures } from "../../wire-figures.ts";
import { money } from "../ui/amounts.ts";
import { type Usage, usageByDay, usageByMonth } from "./usage.ts";

export function UsageTables({ figures: { runs, users } }: { figures: Figures }) {
  const now = new Date();
  const byUser = users?.map(({ name, runs: count, cost_usd }) => ({ name, runs: count, cost: cost_usd }));
  return (
    <section class="usage" aria-label="Usage">
      <UsageTable title="By day" first="Day" rows={usageByDay(runs, now)} />
      <UsageTable title="By month" first="Month" rows={usageByMonth(runs, now)} />
      {byUser === undefined ? null : (
        <UsageTable title="By user, last 30 days" first="User" rows={byUser}>
          <p class="quiet small">
            Only you, as the operator of this server, see this. Questions and reports stay private.
          </p>
        </UsageTable>
      )}
    </section>
  );
}

interface UsageTableProps {
  title: string;
  first: string;
  rows: Usage[];
  children?: ComponentChildren;
}

function UsageTable({ title, first, rows, children }: UsageTableProps) {
  const highest = Math.max(...rows.map(({ cost }) => cost), 0);
  return (
    <div class="card stack tight">
      <h2>{title}</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">{first}</th>
            <th scope="col">Runs</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, runs, cost }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{runs.toLocaleString("en-US")}</td>
              <td class="amount">
                <span
                  class="bar"
                  aria-hidden="true"
                  style={{ inlineSize: `${highest === 0 ? 0 : (100 * cost) / highest}%` }}
                />
                {money(cost)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {children}
    </div>
  );
}
