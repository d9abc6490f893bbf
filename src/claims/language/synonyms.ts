/** Words that say the same in nearly every context: a claim may use another one than its page. */

import type { Language } from "./word-lists.ts";

/** One group per line, its key first; `↑` and `↓` are a rise and a fall. English verbs stand for their regular forms. */
const GROUPS: Readonly<Record<Language, string>> = {
  en: `↑ rise rose risen increase grow grew grown growth climb gain up raise
    ↓ fall fell fallen decrease decline drop down lower cut reduce reduction shorten shrink shrank shrunk
    buy bought acquire purchase
    begin began begun start
    launch introduce introduction
    receive get got
    confirm uphold upheld
    ban prohibit forbid forbidden
    reject rejection refuse refusal
    choose chose chosen select
    build built construct
    close closure shut
    complete completion finish
    show reveal
    say said
    require need
    allow permit
    keep kept retain
    make made manufacture
    establish founded
    extend extension
    renovate renovation refurbish refurbishment
    postpone delay
    leave left quit
    sell sold
    pay paid
    jobless unemployment unemployed
    die death died
    hurt injure injured wound wounded
    plan intend want wish
    try attempt
    support back
    child children kid
    woman women
    man men
    firm company
    employee worker staff
    inhabitant resident
    output production produce
    aid assistance
    car automobile
    film movie
    doctor physician
    country nation
    yearly annual annually
    insolvency bankruptcy
    insolvent bankrupt
    lawsuit suit
    flat apartment
    lorry lorries truck
    metre meter
    centre center
    programme program
    labour labor
    electricity power
    every each
    total overall`,
  de: `↑ stieg stiegen steigt steigen gestiegen erhöhte erhöht erhöhten wuchs wuchsen wächst gewachsen zunahm zugenommen
    ↓ sank sanken sinkt sinken gesunken fiel fielen fällt fallen gefallen senkte senkt gesenkt verringerte verringert schrumpfte abnahm abgenommen
    kaufte kauften gekauft erwarb erwarben erworben
    begann begannen begonnen startete starteten gestartet
    eröffnete eröffneten eröffnet
    kostete kosteten gekostet
    gründete gründeten gegründet
    baute bauten gebaut errichtete errichteten errichtet
    schloss schlossen geschlossen
    mitarbeiter mitarbeitern beschäftigte beschäftigten angestellte angestellten
    einwohner einwohnern bewohner bewohnern
    lehnte ablehnte abgelehnt`,
  fr: `↑ augmente augmentent augmenté augmentée augmentait progresse progressé progresser croît crû hausse
    ↓ baisse baissé baissée baissent diminue diminué diminuée diminuent recule reculé chute chuté
    acheter achète acheté achetée achetés racheter rachète racheté rachetée acquis acquise
    commence commencent commencé débute débutent débuté
    salariés salarié employés employé
    habitants habitant résidents résident
    construit construite bâti bâtie
    rouvert rouverte rouvre
    coûte coûtent coûté coûtait`,
  ja: "",
};

const GROUP_OF = new Map(
  Object.entries(GROUPS).flatMap(([language, groups]) =>
    groups.split("\n").flatMap((group) => {
      const words = group.trim().split(" ");
      return words.map((word) => [`${language}:${word}`, words[0] ?? ""] as const);
    }),
  ),
);

export const groupOf = (word: string, language: Language): string | undefined => GROUP_OF.get(`${language}:${word}`);

/** Phrases of several words, each with the one that replaces it before a text is read. */
const PHRASES: Readonly<Record<Language, readonly (readonly [RegExp, string])[]>> = {
  en: [
    [/\bturn(s|ed)? down\b/gi, "reject$1"],
    [/\b(?:come|came) back\b/gi, "returned"],
    [/\b(?:went|gone) up\b/gi, "risen"],
    [/\b(?:come|came|went|gone) down\b/gi, "fallen"],
    [/\b(?:bring|brings|brought) (its|their|his|her|the) ((?:\p{L}+ ){1,3})down\b/giu, "reduced $1 $2"],
    [/\bset up\b/gi, "founded"],
    [/\bshut down\b/gi, "closed"],
    [/\b(re)?opened (?:its|their) doors\b/gi, "$1opened"],
    [/\bput off\b/gi, "postponed"],
    [/\bhand(s|ed) out\b/gi, "distribute$1"],
    [/\b(?:stood at|amounted to)(?= (?:about |around |nearly )?[\d$€£])/gi, "was"],
    [/\b(?:stands at|amounts to)(?= (?:about |around |nearly )?[\d$€£])/gi, "is"],
    [/\bfrom ((?:1[5-9]|20)\d\d) (?:to|until) (?=(?:1[5-9]|20)\d\d)/gi, "between $1 and "],
    [/\bhas a (?:workforce|staff) of ([\d.,]+)/gi, "has $1 employees"],
    [
      /\bemploy(?:s|ed|ing)? ((?:about |around |more than |nearly )?[\d.,]+)(?: (?:people|persons|workers|staff))?\b/gi,
      "has $1 employees",
    ],
    [/\b(?:on average|an average of)\b/gi, "average"],
    [/\/(?:t|tonne)\b/g, " per tonne"],
    [/\/(day|month|year|week|hour|person|share|litre|kg|km)\b/g, " per $1"],
    [/\bkm\/h\b/g, "km per hour"],
    [
      /(?<!\b(?:within|in|for|of|after|than|half|once|twice|about|over|on)) (?:an?|each|every) (year|month|week|day|hour|tonne|person|share)\b(?! (?:ago|earlier|later|before|after))/gi,
      " per $1",
    ],
    [/\b(?:annually|per annum)\b/gi, "per year"],
    [
      /\bthe (?:island |neighbouring )?(?:province|state|city|town|island|district|region|county|village|municipality|republic|canton) of (?=\p{Lu})/giu,
      "",
    ],
    [/\bthe year (?=(?:1[5-9]|20)\d\d\b)/gi, ""],
  ],
  de: [
    [
      /\bbeschäftigt ((?:rund |etwa )?[\d.]+)(?: (?:Menschen|Personen|Mitarbeiter|Angestellte))?\b/g,
      "hat $1 Mitarbeiter",
    ],
    [/\b(?:beträgt|liegt bei|beläuft sich auf)(?= (?:rund |etwa )?\d)/g, "ist"],
    [/\b(?:betrug|lag bei|belief sich auf)(?= (?:rund |etwa )?\d)/g, "war"],
    [/\bvon ((?:1[5-9]|20)\d\d) bis (?=(?:1[5-9]|20)\d\d)/g, "zwischen $1 und "],
    [/(?<=\p{L}) im Jahr(?! ?\d)/gu, " pro Jahr"],
    [/(?<=\p{L}) am Tag\b/gu, " pro Tag"],
    [/\b(?:im|des) Jahre?s? (?=(?:1[5-9]|20)\d\d\b)/gi, ""],
  ],
  fr: [
    [/\bemploie ((?:environ )?\d[\d \u00A0\u202F]*)(?:personnes|salariés|employés)\b/g, "a $1salariés"],
    [/\b(?:s'élève à|se monte à)(?= (?:environ )?\d)/g, "est de"],
    [/\brouvert ses portes\b/g, "rouvert"],
    [/\ben l'année (?=(?:1[5-9]|20)\d\d\b)/g, "en "],
  ],
  ja: [],
};

export const withoutPhrases = (text: string, language: Language): string =>
  PHRASES[language].reduce((changed, [phrase, word]) => changed.replaceAll(phrase, word), text);
