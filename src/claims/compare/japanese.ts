/** The conditions of `gates.ts` for Japanese, where endings and particles express them. */

import { negationsIn } from "../language/negations.ts";
import type { Token } from "../language/tokens.ts";

interface Aligned {
  claim: readonly Token[];
  content: readonly Token[];
  sentence: readonly Token[];
  matched: readonly number[];
}

/** Plans, possibilities and wishes; figures that no longer hold; limits; conditions. */
const MARKERS =
  /予定|計画|見込|見通|方針|目指|目標|検討|考え|申請|要請|提案|可能性|かもしれ|だろう|でしょう|期待|当初|以前|かつて|従来|のみ|だけ|すべて|全て|一部|約|およそ|以上|以下|未満|もし|場合|なら|れば|訂正|誤/gu;

export function japaneseObjection({ claim, content, sentence, matched }: Aligned): string | undefined {
  const [ours, theirs] = [textOf(claim), textOf(sentence)];
  if (negationsIn(ours, [], "ja") !== negationsIn(theirs, [], "ja")) {
    return "The page's sentence and the claim differ in a negation.";
  }
  const markers = (text: string): string => [...new Set(text.match(MARKERS) ?? [])].toSorted().join();
  if (markers(ours) !== markers(theirs)) return "The page states it with other limits or less certainty.";
  for (const [index, token] of content.entries()) {
    const [here, there] = [claim[claim.indexOf(token) + 1], sentence[(matched[index] ?? 0) + 1]];
    if (here?.kind !== "stop" || there?.kind !== "stop") continue;
    if (differ(roleOf(here.key), roleOf(there.key))) return "The page connects these words differently.";
    if (differ(tenseOf(here.key), tenseOf(there.key))) return "The page refers to another time.";
  }
  return undefined;
}

const textOf = (tokens: readonly Token[]): string => tokens.map(({ text }) => text).join("");

const differ = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && other !== undefined && one !== other;

/** A topic or attribute may be marked by は, が, も or の. */
const ROLES: readonly (readonly [RegExp, string])[] = [
  [/^(?:は|が|も|の)/u, "subject"],
  [/^を/u, "object"],
  [/^(?:に|へ)(?!な)/u, "target"],
  [/^から/u, "origin"],
  [/^より/u, "than"],
];

const roleOf = (particle: string): string | undefined => ROLES.find(([pattern]) => pattern.test(particle))?.[1];

function tenseOf(ending: string): string | undefined {
  if (/(?:た|だ)(?:と|が|$)/u.test(ending)) return "past";
  return /[うくぐすつぬぶむる](?:と|が|$)/u.test(ending) || ending.endsWith("ます") ? "present" : undefined;
}
