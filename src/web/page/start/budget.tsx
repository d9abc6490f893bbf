/** What is left of the budgets, beside the button that starts: the numbers that decide about the start. */

import { leftText } from "../../../costs/budget.ts";
import type { BudgetsLeft } from "../../wire.ts";
import { fetchJson } from "../app/request.ts";
import { useLoad } from "../ui/parts.tsx";

/** Without a budget nothing is shown. */
export function BudgetLine() {
  const { value } = useLoad("budgets", (signal) => fetchJson<BudgetsLeft>("/api/budgets", { signal }));
  if (value === undefined || value.budgets.length === 0) return null;
  return (
    <p class="quiet small">
      <a href="/costs">{value.budgets.map(leftText).join(" · ")}</a>
    </p>
  );
}
