/** The costs of a period: their sum, a chart, and tables by kind, model and user. Filters, in the URL, apply to everything. */

import { leftText } from "../../costs/budget.ts";
import { COST_KIND_NAMES } from "../../costs/kinds.ts";
import type { Costs } from "../wire.ts";
import { fetchJson } from "./app/request.ts";
import { go } from "./app/router.ts";
import { costRemark, markedMoney, money } from "./ui/format.ts";
import { Problem, useLoad } from "./ui/parts.tsx";

const DAY_MS = 86_400_000;
const PERIODS: readonly (readonly [days: string, name: string])[] = [
  ["1", "Today"],
  ["7", "7 days"],
  ["30", "30 days"],
  ["90", "90 days"],
  ["365", "12 months"],
];
const DEFAULT_DAYS = "30";
const FILTERS = ["kind", "model", "owner"] as const;

const dateOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** What the server is asked for; the page names a number of days instead of the first one. */
function queryOf(filter: URLSearchParams): string {
  const days = Number(filter.get("days") ?? DEFAULT_DAYS);
  const query = new URLSearchParams({ since: dateOf(Date.now() - ((days > 0 ? days : 1) - 1) * DAY_MS) });
  for (const name of FILTERS) {
    const value = filter.get(name);
    if (value !== null && value !== "") query.set(name, value);
  }
  return query.toString();
}

export function CostsView({ filter }: { filter: URLSearchParams }) {
  const query = queryOf(filter);
  const { value, last, error, reload } = useLoad(`figures ${query}`, (signal) =>
    fetchJson<Costs>(`/api/figures?${query}`, { signal }),
  );
  const shown = value ?? last;
  return (
    <div class="figures stack" aria-busy={value === undefined && error === undefined}>
      <h1 tabIndex={-1}>Costs</h1>
      <Problem error={error}>
        <button type="button" class="button" onClick={reload}>
          Load again
        </button>
      </Problem>
      {shown === undefined ? (
        error === undefined && <p class="quiet">Loading…</p>
      ) : (
        <>
          <Total costs={shown} />
          <Filters filter={filter} costs={shown} />
          <FiguresContent costs={shown} query={query} />
        </>
      )}
    </div>
  );
}

function Total({ costs: { total, since, until, budgets, notices } }: { costs: Costs }) {
  const { requests, cost_usd: cost, reserved_usd: reserved } = total;
  return (
    <div class="stack tight">
      <p class="total">
        <strong title={costRemark(total)}>{markedMoney(cost, total)}</strong>{" "}
        {since === until ? `on ${since}` : `from ${since} to ${until}`} (UTC), {requests.toLocaleString("en-US")} paid{" "}
        {requests === 1 ? "request" : "requests"}
      </p>
      {reserved === undefined ? null : (
        <p class="quiet small">{money(reserved)} of it is reserved: Google has not reported what was used.</p>
      )}
      {budgets.map((budget) => (
        <p key={budget.name}>{leftText(budget)}.</p>
      ))}
      {notices.map((notice) => (
        <p key={notice} class="notice">
          {notice}
        </p>
      ))}
    </div>
  );
}

function Filters({ filter, costs: { choices } }: { filter: URLSearchParams; costs: Costs }) {
  const choose = (name: string, value: string): void => {
    const next = new URLSearchParams(filter);
    next.set(name, value);
    if (value === "" || (name === "days" && value === DEFAULT_DAYS)) next.delete(name);
    go(next.size === 0 ? "/costs" : `/costs?${next}`, { replace: true });
  };
  const chosen = (name: string) => ({
    value: filter.get(name) ?? "",
    onChoose: (value: string) => choose(name, value),
  });
  const named = (values: readonly string[]) => values.map((value) => [value, value] as const);
  return (
    <search class="row filters">
      <select
        aria-label="Period"
        value={filter.get("days") ?? DEFAULT_DAYS}
        onChange={({ currentTarget }) => choose("days", currentTarget.value)}
      >
        {PERIODS.map(([days, name]) => (
          <option key={days} value={days}>
            {name}
          </option>
        ))}
      </select>
      <Choice
        label="Kind"
        any="Every kind"
        options={choices.kinds.map((kind) => [kind, COST_KIND_NAMES[kind]])}
        {...chosen("kind")}
      />
      <Choice label="Model" any="Every model" options={named(choices.models)} {...chosen("model")} />
      {choices.owners.length < 2 ? null : (
        <Choice label="User" any="Every user" options={named(choices.owners)} {...chosen("owner")} />
      )}
    </search>
  );
}

interface ChoiceProps {
  label: string;
  any: string;
  options: readonly (readonly [value: string, name: string])[];
  value: string;
  onChoose: (value: string) => void;
}

/** A value of the URL that the period does not have stays chosen, so that it is visible. */
function Choice({ label, any, options, value, onChoose }: ChoiceProps) {
  const isKnown = value === "" || options.some(([known]) => known === value);
  return (
    <select aria-label={label} value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
      <option value="">{any}</option>
      {[...options, ...(isKnown ? [] : [[value, value] as const])].map(([key, name]) => (
        <option key={key} value={key}>
          {name}
        </option>
      ))}
    </select>
  );
}

function FiguresContent({ costs, query }: { costs: Costs; query: string }) {
  const { total, kinds, models, owners } = costs;
  if (total.requests === 0) return <p class="quiet">Nothing was charged in this period.</p>;
  return (
    <>
      <Chart costs={costs} />
      <SumTable
        title="By kind"
        first="Kind"
        rows={kinds.map(({ kind, ...sum }) => ({ name: COST_KIND_NAMES[kind], ...sum }))}
      />
      <SumTable title="By model" first="Model" rows={models.map(({ model, ...sum }) => ({ name: model, ...sum }))} />
      {owners === undefined ? null : (
        <>
          <SumTable title="By user" first="User" rows={owners.map(({ owner, ...sum }) => ({ name: owner, ...sum }))} />
          <p class="quiet small">
            Only you, as the operator of this server, see this. Questions and reports stay private.
          </p>
        </>
      )}
      <p>
        <a class="button small" href={`/api/figures.csv?${query}`} download>
          Download as CSV
        </a>
      </p>
    </>
  );
}

/** Longer periods have a bar for each month. */
const MAX_BARS = 92;
const CHART = { width: 720, height: 120, gap: 0.2 };

function Chart({ costs: { since, until, days, months } }: { costs: Costs }) {
  const first = Date.parse(since);
  const count = Math.round((Date.parse(until) - first) / DAY_MS) + 1;
  const isDaily = count <= MAX_BARS;
  const byDay = new Map(days.map((sum) => [sum.day, sum.cost_usd]));
  const bars = isDaily
    ? Array.from({ length: count }, (_, index) => dateOf(first + index * DAY_MS)).map((name) => ({
        name,
        usd: byDay.get(name) ?? 0,
      }))
    : months.toReversed().map(({ month, cost_usd }) => ({ name: month, usd: cost_usd }));
  const highest = bars.reduce((max, bar) => (bar.usd > max.usd ? bar : max), { name: "", usd: 0 });
  if (bars.length < 2 || highest.usd === 0) return null;
  const step = CHART.width / bars.length;
  const label = `Costs by ${isDaily ? "day" : "month"}; the highest is ${money(highest.usd)}, ${highest.name}.`;
  return (
    <figure class="card stack tight chart">
      <svg viewBox={`0 0 ${CHART.width} ${CHART.height}`} role="img" aria-label={label} preserveAspectRatio="none">
        {bars.map(({ name, usd }, index) => {
          const height = (usd / highest.usd) * CHART.height;
          return (
            <rect
              key={name}
              x={index * step + (step * CHART.gap) / 2}
              y={CHART.height - height}
              width={step * (1 - CHART.gap)}
              height={height}
            >
              <title>
                {name}: {money(usd)}
              </title>
            </rect>
          );
        })}
      </svg>
      <figcaption class="row apart quiet small">
        <span>{bars[0]?.name}</span>
        <span>
          highest: {money(highest.usd)}, {highest.name}
        </span>
        <span>{bars.at(-1)?.name}</span>
      </figcaption>
    </figure>
  );
}

type Sum = Costs["total"] & { name: string };

function SumTable({ title, first, rows }: { title: string; first: string; rows: readonly Sum[] }) {
  return (
    <section class="card stack tight" aria-label={title}>
      <h2>{title}</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">{first}</th>
            <th scope="col">Requests</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, requests, cost_usd: cost, ...marks }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{requests.toLocaleString("en-US")}</td>
              <td title={costRemark(marks)}>{markedMoney(cost, marks)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
