/** Checks that the words around a matched claim do not change its meaning. */

import { isContent, type Token } from "../language/tokens.ts";
import { WORD_LISTS } from "../language/word-lists.ts";
import { type Aligned, isBreak, keysIn, no, type Objection } from "./aligned.ts";
import { isTimeWord } from "../language/passing-words.ts";

type Lists = (typeof WORD_LISTS)["en"];

export function beginning({ sentence, matched, page }: Aligned): Objection | undefined {
  const [first = 0] = matched;
  const lists = WORD_LISTS[page.language];
  const lead = sentence.slice(sentence.findLastIndex(({ text }, at) => at < first && text === ";") + 1, first);
  if (keysIn(lead, lists.unreal).length > 0) return no("The page does not state this as a fact.");
  const clause = lead.slice(lead.findLastIndex((token) => isBreak(token) || lists.conjunctions.has(token.key)) + 1);
  const attached = clause.filter(
    (token) => isContent(token) && token.kind !== "date" && !isTimeWord(token, page.language),
  );
  if (attached.length === 0 || isAntecedent(sentence, first, lists)) return undefined;
  if (page.language === "ja" && isJapaneseLead(lead)) return undefined;
  const [word] = attached;
  // `The telecom regulator` where the page also says `the regulator`.
  const isPlain = attached.length === 1 && word === sentence[first - 1] && !word?.isName && isNone(attached, lists);
  if (isPlain && page.plainNouns.has(sentence[first]?.key ?? "")) return undefined;
  return sentence[first]?.isName === true && isTitle(clause, attached, lists)
    ? undefined
    : no("The page states this about something else.");
}

/** 同社の: of the same company; 発表した: which it announced. */
const isJapaneseLead = (lead: readonly Token[]): boolean =>
  lead[0]?.text === "同" ||
  lead
    .map(({ text }) => text)
    .join("")
    .endsWith("発表した");

/** Titles and kinds before a name: `The pump maker Norda`. */
const MAX_TITLE_WORDS = 3;

const isTitle = (clause: readonly Token[], attached: readonly Token[], lists: Lists): boolean =>
  attached.length <= MAX_TITLE_WORDS &&
  attached.every((token) => token.kind === "word" && (!token.isName || token === attached[0])) &&
  clause.every(({ key }) => !lists.prepositions.has(key)) &&
  isNone(attached, lists);

/** Whether the words neither limit nor postpone. */
const isNone = (words: readonly Token[], { scope, planned }: Lists): boolean =>
  words.every(({ kind }) => kind === "word") && keysIn(words, scope).length + keysIn(words, planned).length === 0;

/** After these the last name is meant: `second after Sorande, which …`. */
const PARTNERS = new Set("after than behind against with unlike".split(" "));

/** `They replace the Skarnfjord, which has …`: what follows is said of the word before the comma. */
function isAntecedent(sentence: readonly Token[], at: number, { relatives, prepositions }: Lists): boolean {
  const [comma, relative] = sentence.slice(at + 1, at + 3);
  if (comma?.text !== "," || relative === undefined || !relatives.has(relative.key)) return false;
  if (relative.key === "who" || PARTNERS.has(sentence[at - 1]?.key ?? "")) return true;
  let before = at - 1;
  while (sentence[before]?.kind === "stop" && !prepositions.has(sentence[before]?.key ?? "")) before -= 1;
  return sentence[before]?.kind !== "stop";
}

/** What a plan, an offer or a figure is followed by if it did not last. */
const UNDONE =
  /^(?:drop|abandon|scrap|shelv|cancel|withdr|overturn|annul|revok|revers|retract|refut|verworfen|aufgegeben|zurückgezogen|aufgehoben|widerrufen|abandonn|retir|refus)/u;

export function ending({ sentence, matched, page }: Aligned): Objection | undefined {
  const lists = WORD_LISTS[page.language];
  const last = matched.at(-1) ?? 0;
  const next = sentence[last + 1];
  if (next !== undefined && isContent(next) && next.kind !== "date" && !isTimeWord(next, page.language)) {
    return no("The page states this about something else.");
  }
  const trail = sentence.slice(last + 1);
  if (keysIn(trail, lists.unreal).length > 0) return no("The page adds a condition or a doubt.");
  const end = trail.findIndex((token) => isBreak(token) || lists.conjunctions.has(token.key));
  const clause = trail.slice(0, end === -1 ? trail.length : end);
  if (clause.some(({ text }) => UNDONE.test(text.toLowerCase())))
    return no("The page says that this was abandoned or reversed.");
  return keysIn(clause, lists.scope).length > 0 ? no("The page limits what it says.") : undefined;
}
