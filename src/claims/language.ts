/** Words that turn what a sentence says: negations, directions and opposites, in English, German, French and Japanese. */

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Without the French `ne`, which is half of a negation. */
const NEGATIONS =
  words(`not no never none nor neither nothing nowhere without cannot hardly scarcely barely isn't aren't wasn't weren't
    don't doesn't didn't hasn't haven't hadn't won't wouldn't can't couldn't shouldn't mustn't
    nicht kein keine keinen keinem keiner keines nie niemals nichts niemand weder noch ohne kaum
    pas jamais aucun aucune rien personne ni sans non guère`);

/** Endings of Japanese verbs, and 未, 無 and 非 before a noun. */
const JAPANESE_NEGATION = /な(?:い|かっ|く|けれ)|ません|ず(?:に|、|。|$)|ぬ(?:。|$)|[未無非](?=\p{Script=Han})/u;

export function isNegated(text: string): boolean {
  const plain = text.toLowerCase().replaceAll(/\b(?:not|nicht) (?:only|just|merely|nur)\b/g, "");
  return (
    JAPANESE_NEGATION.test(text) || (plain.match(/\p{L}+(?:'\p{L}+)?/gu) ?? []).some((word) => NEGATIONS.has(word))
  );
}

const UP =
  /^(?:ris(?:e|es|en|ing)|rose|increas(?:e|es|ed|ing)|grow(?:s|n|th|ing)?|grew|climb(?:s|ed|ing)?|gain(?:s|ed|ing)?|up|rais(?:e|es|ed|ing)|stieg(?:en)?|steig(?:t|en)|gestiegen|erhöht(?:e|en)?|wuchs(?:en)?|wächst|gewachsen|zunahm|zugenommen|augment(?:e|ent|é|ée|ait)|progress(?:e|é|er)|croît|crû|hausse)$/u;
const DOWN =
  /^(?:f[ae]ll(?:s|en|ing)?|decreas(?:e|es|ed|ing)|declin(?:e|es|ed|ing)|drop(?:s|ped|ping)?|down|lower(?:s|ed|ing)?|cuts?|cutting|reduc(?:e|es|ed|ing|tion)|shorten(?:s|ed|ing)?|shr[aiu]nk(?:s|ing)?|s[aiu]nk(?:t|en)?|gesunken|fiel(?:en)?|fällt|gefallen|senkt(?:e)?|gesenkt|verringert(?:e)?|schrumpfte|abnahm|abgenommen|baiss(?:e|é|ée|ent)|diminu(?:e|é|ée|ent)|recul(?:e|é)|chut(?:e|é))$/u;

/** Undefined if the text reports no rise or fall, or both. */
export function directionOf(text: string): "up" | "down" | undefined {
  const found = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const [isUp, isDown] = [UP, DOWN].map((pattern) => found.some((word) => pattern.test(word)));
  if (isUp === isDown) return undefined;
  return isUp === true ? "up" : "down";
}

export const hasOtherNegation = (claim: string, sentence: string): boolean => isNegated(claim) !== isNegated(sentence);

export function hasOtherDirection(claim: string, sentence: string): boolean {
  const [claimed, stated] = [directionOf(claim), directionOf(sentence)];
  return claimed !== undefined && stated !== undefined && claimed !== stated;
}

export const isNegation = (word: string): boolean => NEGATIONS.has(word.toLowerCase()) || word === "t";

const GERMAN =
  /(?<!\p{L})(?:der|die|das|dem|den|des|und|ist|ein|eine[nmrs]?|nicht|mit|von|zu|im|aus|auf|für|wird|wurde)(?!\p{L})/gu;

/** Where every noun has a capital. */
export const isGerman = (text: string): boolean => (text.toLowerCase().match(GERMAN)?.length ?? 0) > 1;

/** Words of which one excludes the other. */
const OPPOSITES =
  `before after/more less fewer/most least/highest lowest/higher lower/largest smallest/larger smaller/above below/
  maximum minimum/import export/imports exports/imported exported/monday tuesday wednesday thursday friday saturday sunday/
  first second third fourth fifth sixth seventh eighth ninth tenth last/north south east west/northern southern eastern western/
  northeast northwest southeast southwest/men women/male female/boys girls/best worst/oldest youngest/won lost/win lose/
  buy sell/bought sold/left right/upper lower/inside outside/summer winter spring autumn/positive negative/true false/
  with without/always never/all none/approved rejected/accepted rejected/safe unsafe/legal illegal/possible impossible/
  million billion trillion/vor nach/mehr weniger/höchste niedrigste/größte kleinste/erste zweite dritte/nord süd ost west/
  avant après/plus moins/premier deuxième troisième/nord sud est ouest`
    .split(/\/\s*/)
    .map((line) => line.trim().split(/\s+/));

export function areOpposites(one: string, other: string): boolean {
  const [first, second] = [one.toLowerCase(), other.toLowerCase()];
  if (first !== second && OPPOSITES.some((group) => group.includes(first) && group.includes(second))) return true;
  return hasOtherDirection(first, second);
}
