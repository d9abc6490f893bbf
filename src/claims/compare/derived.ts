/** Changes that follow from two figures: `rose from 310 to 465 million` is a rise by 155 million, or by 50 percent. */

import { isDirection } from "../language/stems.ts";
import { isContent, type Token } from "../language/tokens.ts";
import type { Reading } from "./aligned.ts";
import { sameAmount } from "./alignment.ts";
import { relationBefore } from "./relations.ts";

/** Verbs that leave the direction to the figures. */
const MOVES = new Set(
  "went moved changed passe passé passée passer doubled doubles tripled halved stieg wechselte".split(" "),
);

/** The claim without its difference, if the figures of the sentence give it. */
export function withoutDifference({ claim, content, sentence }: Reading): Reading | undefined {
  const direction = content.find(({ key }) => isDirection(key));
  const change = direction === undefined ? undefined : changeIn(sentence);
  if (direction === undefined || change === undefined) return undefined;
  if ((change.to > change.from ? "↑" : "↓") !== direction.key) return undefined;
  const difference = content.find(
    (token) =>
      token.quantity !== undefined &&
      DIFFERENCES.has(relationBefore(claim, claim.indexOf(token))) &&
      isDifference(token.quantity, change),
  );
  if (difference === undefined) return undefined;
  const withDirection = sentence.map((token, index) =>
    index === change.verb ? { ...token, key: direction.key } : token,
  );
  return { claim, content: content.filter((token) => token !== difference), sentence: withDirection };
}

/** `by 155 million`, `de 24 millions`, or no preposition. */
const DIFFERENCES = new Set(["by", "of", ""]);

interface Change {
  from: number;
  to: number;
  unit: string;
  /** The verb that both figures belong to. */
  verb: number;
}

/** The only verb that is followed by figures `from … to …`, and no others. */
function changeIn(sentence: readonly Token[]): Change | undefined {
  const changes = sentence.flatMap((token, verb) => {
    const isVerb = token.kind === "word" && (isDirection(token.key) || MOVES.has(token.text.toLowerCase()));
    return isVerb ? (changeAfter(sentence, verb) ?? []) : [];
  });
  return changes.length === 1 ? changes[0] : undefined;
}

function changeAfter(sentence: readonly Token[], verb: number): Change | undefined {
  const end = sentence.findIndex(({ kind }, at) => at > verb && kind === "break");
  const clause = sentence.slice(0, end === -1 ? sentence.length : end);
  const figures = clause.flatMap(({ quantity }, at) =>
    at > verb && quantity !== undefined ? [{ quantity, relation: relationBefore(clause, at) }] : [],
  );
  const [one, other, ...rest] = figures.filter(({ relation }) => relation !== "by");
  if (one === undefined || other === undefined || rest.length > 0 || figures[0] !== one) return undefined;
  const isFrom = (relation: string): boolean => relation === "from" || relation === "of";
  const [from, to] = isFrom(one.relation) ? [one, other] : [other, one];
  const isChange = isFrom(from.relation) && to.relation === "to" && from.quantity.unit === to.quantity.unit;
  const isExact = from.quantity.approximation === undefined && to.quantity.approximation === undefined;
  return isChange && isExact
    ? { from: from.quantity.value, to: to.quantity.value, unit: from.quantity.unit, verb }
    : undefined;
}

function isDifference(claimed: NonNullable<Token["quantity"]>, { from, to, unit }: Change): boolean {
  const value = Math.abs(to - from);
  const rounded = (amount: number): number => Number(amount.toPrecision(10));
  const stated = { ...claimed, approximation: undefined };
  if (unit === "percent") return claimed.unit === "points" && sameAmount(claimed, { ...stated, value: rounded(value) });
  if (claimed.unit === unit) return sameAmount(claimed, { ...stated, value: rounded(value) });
  if (claimed.unit !== "percent" || from === 0) return false;
  const percent = (value / from) * 100;
  const decimals = /[.,](\d+)$/.exec(String(claimed.value))?.[1]?.length ?? 0;
  return (
    Math.abs(percent - claimed.value) <= 0.5 * 10 ** -decimals || sameAmount(claimed, { ...stated, value: percent })
  );
}

/** `Of the patients, 29 percent had …` as `29 percent of the patients had …`. */
export function withoutFrontedOf(sentence: readonly Token[]): Token[] | undefined {
  const comma = sentence.findIndex(({ text }) => text === ",");
  const share = sentence[comma + 1];
  if (sentence[0]?.key !== "of" || comma < 2 || share?.kind !== "number") return undefined;
  return isContent(share) ? [share, ...sentence.slice(0, comma), ...sentence.slice(comma + 2)] : undefined;
}
