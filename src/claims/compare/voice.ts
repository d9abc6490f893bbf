/** Active and passive: `X founded Y` and `Y was founded by X` say the same, `X was founded` does not. */

import { isContent, type Token } from "../language/tokens.ts";
import type { Language } from "../language/word-lists.ts";

/** Forms of the auxiliary, and the preposition of the agent. German `ist` also forms the perfect of active verbs. */
const PASSIVE: Readonly<Record<Language, { auxiliaries: ReadonlySet<string>; agents: ReadonlySet<string> }>> = {
  en: { auxiliaries: new Set("is are was were be been being".split(" ")), agents: new Set(["by"]) },
  de: { auxiliaries: new Set("wurde wurden worden".split(" ")), agents: new Set(["von", "vom"]) },
  fr: { auxiliaries: new Set(["été"]), agents: new Set(["par"]) },
  ja: { auxiliaries: new Set(), agents: new Set() },
};

const CONJUNCTIONS = new Set(["and", "und", "et"]);

const MAX_AGENT_WORDS = 6;

interface Passive {
  /** Where the clause begins, its auxiliaries, and its verb. */
  from: number;
  auxiliary: number;
  verb: number;
  /** The words of the agent, from its preposition; empty if none is named. */
  agent: readonly [from: number, to: number] | undefined;
}

const isWord = (token: Token | undefined): boolean => token?.kind === "word";

function passiveIn(tokens: readonly Token[], language: Language): Passive | undefined {
  const { auxiliaries, agents } = PASSIVE[language];
  const last = tokens.findLastIndex(({ kind, key }) => kind === "stop" && auxiliaries.has(key));
  if (last === -1) return undefined;
  let from = last;
  while (from > 0 && tokens[from - 1]?.kind !== "break") from -= 1;
  const by = tokens.findIndex(({ kind, key }, at) => at > last && kind === "stop" && agents.has(key));
  const agent = by === -1 ? undefined : ([by, endOfPhrase(tokens, by + 1, language)] as const);
  const verb = language === "de" ? tokens.findLastIndex(isContent) : last + 1;
  if (!isWord(tokens[verb]) || tokens.slice(from, last).every((token) => !isContent(token))) return undefined;
  let auxiliary = last;
  while (tokens[auxiliary - 1]?.kind === "stop" && HAVE.has(tokens[auxiliary - 1]?.key ?? "")) auxiliary -= 1;
  return { from, auxiliary, verb, agent };
}

const HAVE = new Set("has have had a ont avait avaient been".split(" "));

/** The end of a noun phrase; `of` continues it. */
function endOfPhrase(tokens: readonly Token[], start: number, language: Language): number {
  const verbAtEnd = language === "de" ? tokens.findLastIndex(isContent) : tokens.length;
  for (let at = start, words = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined || token.kind === "break" || at === verbAtEnd) return at;
    if ((token.kind === "number" && at > start) || token.kind === "date") return at;
    const isList = CONJUNCTIONS.has(token.key) && tokens[at + 1]?.isName === true;
    if (token.kind === "stop" && !PHRASE_STOPS.has(token.key) && !isList) return at;
    if (isContent(token) && (words += 1) > MAX_AGENT_WORDS) return at;
  }
  return tokens.length;
}

const PHRASE_STOPS = new Set("the a an of der die das dem den des le la les l de du d un une".split(" "));

/** The clause with its agent first: undefined if it is not passive or names no agent. */
export function activeForm(tokens: readonly Token[], language: Language): Token[] | undefined {
  const found = passiveIn(tokens, language);
  if (found?.agent === undefined) return undefined;
  const { from, auxiliary, verb, agent } = found;
  const [by, end] = agent;
  const middle = tokens.slice(auxiliary, by).filter((token) => token !== tokens[verb] && !isAuxiliary(token, language));
  const rest = tokens.slice(end).filter((token) => token !== tokens[verb]);
  const patient = tokens.slice(from, auxiliary);
  const verbToken = tokens[verb];
  if (verbToken === undefined || end <= by + 1) return undefined;
  return [...tokens.slice(0, from), ...tokens.slice(by + 1, end), verbToken, ...patient, ...middle, ...rest];
}

const isAuxiliary = ({ kind, key }: Token, language: Language): boolean =>
  kind === "stop" && (PASSIVE[language].auxiliaries.has(key) || HAVE.has(key));

/** `312 cables were replaced` as `replaced 312 cables`: what follows the subject of an active sentence. */
export function withoutAgent(tokens: readonly Token[], language: Language): Token[] | undefined {
  const found = passiveIn(tokens, language);
  if (found === undefined || found.agent !== undefined || found.from !== 0) return undefined;
  const verb = tokens[found.verb];
  if (verb === undefined) return undefined;
  const after = tokens.slice(found.auxiliary).filter((token) => token !== verb && !isAuxiliary(token, language));
  return [verb, ...tokens.slice(0, found.auxiliary), ...after];
}

const PARTICIPLE: Readonly<Record<Language, RegExp>> = {
  en: /(?:ed|en|wn|ld|de|nt|ght|pt|un|ost|ut|id)$/,
  de: /(?:t|en)$/,
  fr: /(?:é|i|u|is|it|ert)e?s?$/,
  ja: /$^/,
};
const ARTICLES = new Set("the a an its their his her der die das den dem ein eine einen le la les l un une".split(" "));

/** Whether one side does to a thing what the other side says is done to it. */
export function hasOtherVoice(
  {
    claim,
    content,
    sentence,
    matched,
  }: Record<"claim" | "content" | "sentence", readonly Token[]> & { matched: readonly number[] },
  language: Language,
): boolean {
  return content.some((token, index) => {
    if (index === 0 || token.kind !== "word" || !PARTICIPLE[language].test(token.text.toLowerCase())) return false;
    const [here, there] = [claim.indexOf(token), matched[index] ?? 0];
    const [ours, theirs] = [isPassive(claim, here, language), isPassive(sentence, there, language)];
    if (ours === theirs) return false;
    return hasObject(ours ? sentence : claim, ours ? there : here);
  });
}

/** An auxiliary directly before the verb, or in German anywhere before it in the clause. */
function isPassive(tokens: readonly Token[], verb: number, language: Language): boolean {
  const { auxiliaries } = PASSIVE[language];
  for (let at = verb - 1; at >= 0; at -= 1) {
    const token = tokens[at];
    if (token === undefined || token.kind === "break") return false;
    if (token.kind === "stop" && auxiliaries.has(token.key)) return true;
    if (language !== "de" && isContent(token) && !token.text.endsWith("ly")) return false;
  }
  return false;
}

function hasObject(tokens: readonly Token[], verb: number): boolean {
  const next = tokens[verb + 1];
  return next !== undefined && (isContent(next) ? next.kind !== "date" : ARTICLES.has(next.key));
}
