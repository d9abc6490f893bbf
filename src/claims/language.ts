/** Recognises the languages in which numbers, negations and directions are read; in others only digits count. */

export type Language = "en" | "de" | "fr" | "ja";

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

type European = Exclude<Language, "ja">;

export const FUNCTION_WORDS: Readonly<Record<European, ReadonlySet<string>>> = {
  en: words(`a an the this that these those it its he she they we his her their is are was were be been do does did has
    have had also as so there than and or but which who when of in on at by to from for with about between into over
    after before during through per`),
  de: words(`der die das den dem des ein eine einen einem einer eines diese dieser dieses er sie es wir ihr ihre sein
    seine sich ist sind war waren wurde wurden werden hat haben auch als wie und oder aber dass in im an am auf aus bei
    beim bis durch für gegen mit nach seit über um unter von vom vor zu zum zur zwischen`),
  fr: words(`le la les l un une des du de d ce cet cette ces il elle ils elles on se s son sa ses leur leurs est sont
    était étaient été a ont avait avaient qui que qu dont et ou mais plus à au aux en dans par pour sur avec entre
    depuis après avant`),
};

const MAX_CHARACTERS = 4_000;

/** Undefined if the text is in another language, or too short to tell. */
export function languageOf(whole: string): Language | undefined {
  const text = whole.slice(0, MAX_CHARACTERS);
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return "ja";
  const found = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const counts = (["en", "de", "fr"] as const).map((language) => ({
    language,
    count: found.filter((word) => FUNCTION_WORDS[language].has(word)).length,
  }));
  const [best, second] = counts.toSorted((a, b) => b.count - a.count);
  if (best === undefined || best.count === 0 || best.count === second?.count) return undefined;
  // Fewer function words than in any running text of these languages.
  return best.count * 8 >= found.length ? best.language : undefined;
}

/** `ne` is left out: it is half of a negation. */
const NEGATIONS: Readonly<Record<European, ReadonlySet<string>>> = {
  en: words(`not no never none nor neither nothing nowhere without cannot hardly scarcely barely isn't aren't wasn't
    weren't don't doesn't didn't hasn't haven't hadn't won't wouldn't can't couldn't shouldn't mustn't`),
  de: words(`nicht kein keine keinen keinem keiner keines nie niemals nichts niemand weder noch ohne kaum`),
  fr: words(`pas jamais aucun aucune rien personne ni sans non guère`),
};

/** Endings of Japanese verbs, and 未, 無 and 非 before a noun. */
const JAPANESE_NEGATION = /な(?:い|かっ|く|けれ)|ません|ず(?:に|、|。|$)|ぬ(?:。|$)|[未無非](?=\p{Script=Han})/u;

function isNegated(text: string, language: Language): boolean {
  if (language === "ja") return JAPANESE_NEGATION.test(text);
  const plain = text.toLowerCase().replaceAll(/\b(?:not|nicht) (?:only|just|merely|nur)\b/g, "");
  return (plain.match(/\p{L}+(?:'\p{L}+)?/gu) ?? []).some((word) => NEGATIONS[language].has(word));
}

const UP =
  /^(?:ris(?:e|es|en|ing)|rose|increas(?:e|es|ed|ing)|grow(?:s|n|th|ing)?|grew|climb(?:s|ed|ing)?|gain(?:s|ed|ing)?|up|rais(?:e|es|ed|ing)|stieg(?:en)?|steig(?:t|en)|gestiegen|erhöht(?:e|en)?|wuchs(?:en)?|wächst|gewachsen|zunahm|zugenommen|augment(?:e|ent|é|ée|ait)|progress(?:e|é|er)|croît|crû|hausse)$/u;
const DOWN =
  /^(?:f[ae]ll(?:s|en|ing)?|decreas(?:e|es|ed|ing)|declin(?:e|es|ed|ing)|drop(?:s|ped|ping)?|down|lower(?:s|ed|ing)?|cuts?|cutting|reduc(?:e|es|ed|ing|tion)|shorten(?:s|ed|ing)?|shr[aiu]nk(?:s|ing)?|s[aiu]nk(?:t|en)?|gesunken|fiel(?:en)?|fällt|gefallen|senkt(?:e)?|gesenkt|verringert(?:e)?|schrumpfte|abnahm|abgenommen|baiss(?:e|é|ée|ent)|diminu(?:e|é|ée|ent)|recul(?:e|é)|chut(?:e|é))$/u;

/** Undefined if the text reports no rise or fall, or both. */
function directionOf(text: string): "up" | "down" | undefined {
  const found = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const [isUp, isDown] = [UP, DOWN].map((pattern) => found.some((word) => pattern.test(word)));
  if (isUp === isDown) return undefined;
  return isUp === true ? "up" : "down";
}

export function hasOtherNegation(claim: string, sentence: string): boolean {
  const language = languageOf(claim) ?? "en";
  return isNegated(claim, language) !== isNegated(sentence, language);
}

export function hasOtherDirection(claim: string, sentence: string): boolean {
  const [claimed, stated] = [directionOf(claim), directionOf(sentence)];
  return claimed !== undefined && stated !== undefined && claimed !== stated;
}

export const isNegation = (word: string): boolean =>
  Object.values(NEGATIONS).some((negations) => negations.has(word.toLowerCase())) || word === "t";

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

/** Words that make a statement less certain, or a plan or an opinion. */
const HEDGES =
  /(?<!\p{L})(?:will|would|could|might|may|plans?|planned|planning|expect(?:s|ed)?|hope[sd]?|intends?|wants?|to be|if|unless|whether|according|allegedly|reportedly|claim(?:s|ed)|den(?:y|ies|ied)|proposed|should|forecasts?|estimated?|likely|possibly|rumou?r(?:s|ed)?|soll(?:en|te)?|wird|werden|will|könnte|plant|erwartet|laut|wenn|falls|prévoit|devrait|pourrait|selon|si)(?!\p{L})/giu;
/** Words without which a statement says less. */
const RESTRICTIONS =
  /(?<!\p{L})(?:all|every|each|none|no|only|always|never|most|because|due|first|last|(?:second-)?(?:largest|biggest|highest|lowest|smallest)|alle|jede[rs]?|nur|kein|weil|wegen|tous|toutes|seul|aucun|parce)(?!\p{L})/giu;

const matches = (pattern: RegExp, text: string): string[] => text.toLowerCase().match(pattern) ?? [];

/** Whether the sentence is less certain than the claim, or the claim says more than the passage. */
export function isOverstated(claim: string, { sentence, passage }: { sentence: string; passage: string }): boolean {
  const [claimed, stated] = [matches(HEDGES, claim), matches(RESTRICTIONS, passage)];
  return (
    matches(HEDGES, sentence).some((word) => !claimed.includes(word)) ||
    matches(RESTRICTIONS, claim).some((word) => !stated.includes(word))
  );
}
