/** Classifies a question by the effort it needs; the same question always gets the same class. */

export const COMPLEXITIES = ["simple", "medium", "complex"] as const;
export type Complexity = (typeof COMPLEXITIES)[number];

/**
 * Features only add points, so that extending a question never moves it to a cheaper class. With these limits one
 * look-up is simple, one comparison or history is medium, and several subjects with several aspects or years are complex.
 */
const MIN_MEDIUM_POINTS = 3;
const MIN_COMPLEX_POINTS = 8;

export function complexityOf(query: string): Complexity {
  const points = FEATURES.reduce((sum, feature) => sum + feature(query), 0);
  if (points >= MIN_COMPLEX_POINTS) return "complex";
  return points >= MIN_MEDIUM_POINTS ? "medium" : "simple";
}

/**
 * By the length of the plan: its steps, or its characters where it is written as prose. A plan for one fact has two or
 * three steps, that for a market a dozen.
 */
const MIN_MEDIUM_PLAN = { steps: 4, characters: 900 };
const MIN_COMPLEX_PLAN = { steps: 9, characters: 2_500 };

export function complexityOfPlan(plan: string): Complexity {
  const steps = count(plan, PLAN_STEP);
  const characters = plan.trim().length;
  const reaches = (min: typeof MIN_MEDIUM_PLAN): boolean => steps >= min.steps || characters >= min.characters;
  if (reaches(MIN_COMPLEX_PLAN)) return "complex";
  return reaches(MIN_MEDIUM_PLAN) ? "medium" : "simple";
}

/** Matches word stems: `compar` covers compare, comparing and comparison. */
const anyOf = (stems: string, characters = ""): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])(?:${stems})${characters === "" ? "" : `|${characters}`}`, "giu");
/** Matches whole words only; otherwise `all` would match `allergy`. */
const whole = (words: string): string => `(?:${words})(?![\\p{L}\\p{N}])`;

/** Compared subjects have to be researched separately and then together. */
const COMPARISON = anyOf(
  `compar|contrast|versus|${whole("vs|better|worse|best|gegenüber|besser|beste[nrs]?|mieux|mejor|meglio")}|difference|advantage|disadvantage|pros and cons|trade-?off|alternativ|rank|vergleich|unterschied|vorteil|nachteil|vor- und nachteil|abwäg|différenc|avantage|inconvénient|diferenc|ventaj|confront|differenz|vantagg|vantag`,
  "比较|比較|对比|対比|區別|区别|違い",
);

/** Changes over time have to be researched for each period. */
const TIME_SPAN = anyOf(
  `histor|trend|evolution|evolv|timeline|decade|centur|forecast|outlook|predict|development of|over time|${whole("since|until|past|future|seit|bis|zukunft|depuis|desde|hasta")}|geschicht|entwicklung|verlauf|jahrzehnt|jahrhundert|prognos|ausblick|tendanc|évolution|tendenc|evoluci|tendenz|prévision|pronóstic|previsi`,
  "历史|歷史|歴史|趋势|趨勢|傾向|推移|发展",
);

/** Words for a whole field: the question does not limit the number of subjects. */
const BREADTH = anyOf(
  `market|industr|landscape|comprehensive|overview|global|worldwide|international|countries|competit|ecosystem|stakeholder|state of the art|literature|${whole("all|each|every|several|various|major|alle[nrs]?|jede[nmrs]?|mehrere[nr]?|verschiedene[nr]?|tous|toutes|chaque|todos|todas|cada|tutti|tutte|ogni")}|markt|märkt|branche|sämtlich|umfassend|überblick|übersicht|weltweit|länder|wettbewerb|marché|mercad|mercat|mundial|monde|países|pays`,
  "市场|市場|全部|所有|各国|各國|每个|すべて|业界|業界",
);

/** Words that ask for a judgement, not only for facts. */
const DEPTH = anyOf(
  `analy[sz]|evaluat|assess|impact|implicat|cause|consequence|strateg|recommend|risk|regulat|feasib|opportunit|challenge|explain why|bewert|beurteil|auswirkung|ursach|konsequenz|empfehl|risik|regulier|chancen|herausforderung|évalu|conséquenc|stratég|recommand|risqu|évaluer|consecuenc|estrateg|recomend|riesg|valutar|conseguenz`,
  "分析|评估|評価|影响|影響|原因|风险|リスク",
);

const WORD = /[\p{L}\p{N}]+/gu;
/** Scripts without spaces, with about two characters per word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}]/gu;
const QUESTION_MARK = /[?？؟]/gu;
const SEPARATOR = /[,;、，；،]/gu;
/** Only after a line break, so that a line put before the question does not remove a match. */
const LIST_ITEM = /\n[ \t]*(?:[-*•–]|\d{1,3}[.)]|[a-z][.)])[ \t]/giu;
/** Google numbers the steps of a plan, also as `(1)`. */
const PLAN_STEP = /^[ \t]*(?:[-*•–]|\(?\d{1,3}[.)])[ \t]/gmu;
const YEAR = /(?<!\p{N})(?:1[5-9]|20|21)\d\d(?!\p{N})/gu;
/** A capitalised word within a sentence: a name, or a German noun, which is why a few of them score no points. */
const NAME = /(?<=[\p{L}\p{N},;:)"'’-][ \t]["'(]?)\p{Lu}[\p{L}\p{N}]+/gu;

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
/** Repetitions do not count. */
const distinct = (text: string, pattern: RegExp): number =>
  new Set(text.match(pattern)?.map((match) => match.toLowerCase())).size;
/** The number of limits that are reached. */
const steps = (value: number, ...limits: number[]): number => limits.filter((limit) => value >= limit).length;

const FEATURES: readonly ((query: string) => number)[] = [
  (query) => steps(count(query, WORD) + count(query, UNSPACED) / 2, 15, 30, 60, 120, 250),
  (query) => steps(count(query, QUESTION_MARK), 2, 3, 5),
  (query) => steps(count(query, SEPARATOR), 2, 4, 8),
  (query) => steps(count(query, LIST_ITEM), 2, 4, 7) * 2,
  (query) => steps(distinct(query, NAME), 4, 7, 12),
  (query) => steps(distinct(query, YEAR), 2),
  (query) => steps(distinct(query, COMPARISON), 1) * 3,
  (query) => steps(distinct(query, TIME_SPAN), 1) * 3,
  (query) => steps(distinct(query, BREADTH), 1, 1, 2, 3),
  (query) => steps(distinct(query, DEPTH), 1, 2, 3),
];
