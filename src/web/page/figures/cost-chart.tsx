/** The cost of each of the last 30 days as a bar chart. */

import type { Figures } from "../../wire.ts";
import { markedMoney, money } from "../ui/amounts.ts";

const HEIGHT = 100;
/** A cost that would be too low to see beside the highest one. */
const MIN_BAR_HEIGHT = 1.5;

export function CostChart({ days }: Pick<Figures, "days">) {
  const highest = Math.max(...days.map(({ cost_usd }) => cost_usd));
  const total = days.reduce((sum, { cost_usd }) => sum + cost_usd, 0);
  const heightOf = (cost: number): number => (cost === 0 ? 0 : Math.max(MIN_BAR_HEIGHT, (HEIGHT * cost) / highest));
  return (
    <figure class="card stack tight">
      <h2>By day</h2>
      <div class="cost-chart">
        <span class="quiet small">{highest === 0 ? "" : money(highest)}</span>
        {/* The bars stretch with the window; text would, too, so that it stands outside. */}
        <svg
          viewBox={`0 0 ${days.length} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Cost by day: ${money(total)} in the last ${days.length} days, at most ${money(highest)} a day.`}
        >
          {days.map(({ day, runs, cost_usd: cost, ...marks }, index) => (
            <g key={day}>
              <rect class="bar" x={index + 0.1} width={0.8} y={HEIGHT - heightOf(cost)} height={heightOf(cost)} />
              {/* The tooltip appears over the whole column, because a low bar is hard to hit. */}
              <rect class="column" x={index} width={1} height={HEIGHT}>
                <title>{`${dayName(day)}: ${markedMoney(cost, marks)}, ${runs} ${runs === 1 ? "run" : "runs"}`}</title>
              </rect>
            </g>
          ))}
        </svg>
        <div class="row apart quiet small">
          <span>{dayName(days.at(0)?.day ?? "")}</span>
          <span>{dayName(days.at(-1)?.day ?? "")} (UTC)</span>
        </div>
      </div>
    </figure>
  );
}

const dayName = (day: string): string =>
  new Date(day).toLocaleDateString("en-US", { month: "short", day: "numeric", timeZone: "UTC" });
