/** Money and durations in words that fit into a line. */

/** Cents matter for a search, not for a report. */
export function money(usd: number): string {
  if (usd > 0 && usd < 0.01) return "<$0.01";
  return usd.toLocaleString("en-US", { style: "currency", currency: "USD" });
}

/** An amount with its marks: `≥` for a lower bound, `≈` where a model was priced by its family. */
export function markedMoney(usd: number, { cost_incomplete, cost_estimated }: CostMarks): string {
  const mark = cost_incomplete === true ? "≥ " : cost_estimated === true ? "≈ " : "";
  return mark + money(usd);
}

interface CostMarks {
  cost_incomplete?: true;
  cost_estimated?: true;
}

/** The same in words. */
export function costRemark({ cost_incomplete, cost_estimated }: CostMarks): string | undefined {
  const remarks = [
    ...(cost_incomplete === true ? ["At least: a part has no known price."] : []),
    ...(cost_estimated === true
      ? ["Estimated: a model is not in the price list; its family's highest price is used."]
      : []),
  ];
  return remarks.length === 0 ? undefined : remarks.join(" ");
}

export function minutes(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const whole = Math.round(seconds / 60);
  if (whole < 60) return `${whole} min`;
  const rest = whole % 60;
  return rest === 0 ? `${whole / 60} h` : `${Math.floor(whole / 60)} h ${rest} min`;
}
