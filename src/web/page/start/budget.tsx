/** What is left of the budgets, beside the button that starts: the numbers that decide about the start. */

import { leftText } from "../../../costs/budget.ts";
import type { BudgetsLeft } from "../../wire.ts";
import { fetchJson } from "../app/request.ts";
import { useLive } from "../live/live.ts";
import { isUnfinished } from "../ui/format.ts";
import { useLoad } from "../ui/parts.tsx";

/** Without a budget nothing is shown. */
export function BudgetLine() {
  const { value, reload } = useLoad("budgets", (signal) => fetchJson<BudgetsLeft>("/api/budgets", { signal }));
  useLive({
    hello: reload,
    // A new run reserves an amount, and one that has ended is settled, if Google is late then some time later.
    runs: ({ runs, list_changed: isListChanged }) => {
      if (isListChanged || runs.some((run) => !isUnfinished(run.status))) reload();
    },
  });
  if (value === undefined || value.budgets.length === 0) return null;
  return (
    <p class="quiet small">
      <a href="/costs">{value.budgets.map(leftText).join(" · ")}</a>
    </p>
  );
}
