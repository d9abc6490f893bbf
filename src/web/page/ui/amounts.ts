/** Formats amounts of money. */

/** Amounts below a cent are not shown as zero. */
export function money(usd: number): string {
  if (usd > 0 && usd < 0.01) return "<$0.01";
  return usd.toLocaleString("en-US", { style: "currency", currency: "USD" });
}

/** From one amount to another, as they are shown; undefined if both are shown the same. */
export const rangeText = (min: string, max: string): string | undefined =>
  min === max ? undefined : `${min} to ${max}`;

/** An amount with its marks: `≥` for a lower bound, `≈` if a model was priced by its family. */
export function markedMoney(usd: number, { cost_incomplete, cost_estimated }: CostMarks): string {
  const mark = cost_incomplete === true ? "≥ " : cost_estimated === true ? "≈ " : "";
  return mark + money(usd);
}

interface CostMarks {
  cost_incomplete?: boolean | undefined;
  cost_estimated?: boolean | undefined;
}

/** The marks as text. */
export function costRemark({ cost_incomplete, cost_estimated }: CostMarks): string | undefined {
  const remarks = [
    ...(cost_incomplete === true ? ["At least: a part has no known price."] : []),
    ...(cost_estimated === true
      ? ["Estimated: a model is not in the price list; its family's highest price is used."]
      : []),
  ];
  return remarks.length === 0 ? undefined : remarks.join(" ");
}
