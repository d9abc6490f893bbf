/** A world of frozen pages, each with a few facts, and the ways in which a model can get each fact wrong. */

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * - `figure`, `unit`, `date`, `negation`, `direction`: the page says something else in figures, units, dates or polarity.
 * - `subtle`: the page has the same figures and dates, but another role, scope, rank or tense.
 * - `invented`: no page says anything of the kind.
 * - `wrong page`: true, but the page it cites does not say it.
 */
export const LIE_KINDS = [
  "figure",
  "unit",
  "date",
  "negation",
  "direction",
  "subtle",
  "invented",
  "wrong page",
] as const;
export type LieKind = (typeof LIE_KINDS)[number];

export interface Fact {
  url: string;
  /** The sentence of the page. */
  passage: string;
  /** A true claim about it, in words of its own. */
  claim: string;
  lies: { kind: LieKind; claim: string }[];
}

type Draft = Omit<Fact, "url">;

const SYLLABLES = ["or", "ven", "kal", "mir", "tas", "lun", "bre", "dol", "sem", "rik", "fan", "gul", "hes", "jun"];

export function createWorld(seed: number, pages: number) {
  const random = randomOf(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const used = new Set<string>();
  const name = (): string => {
    const word = [0, 1, 2].map(() => SYLLABLES[below(SYLLABLES.length)] ?? "or").join("");
    const capital = word.charAt(0).toUpperCase() + word.slice(1);
    if (used.has(capital)) return name();
    used.add(capital);
    return capital;
  };
  const number = (from: number, to: number): number => from + below(to - from);
  const drafts = draftsOf({ name, number });
  const factAt = (url: string): Fact => {
    const draft = drafts[below(drafts.length)] ?? drafts[0];
    if (draft === undefined) throw new Error("A world needs facts.");
    return { url, ...draft() };
  };
  const facts = Array.from({ length: pages }, (_, index) => `https://site${index % 40}.example/page-${index}`).flatMap(
    (url) => [factAt(url), factAt(url), factAt(url)],
  );
  return { facts, urls: [...new Set(facts.map(({ url }) => url))], invent: () => factAt("").claim };
}

export type World = ReturnType<typeof createWorld>;

interface Makers {
  name: () => string;
  number: (from: number, to: number) => number;
}

function draftsOf({ name, number }: Makers): (() => Draft)[] {
  return [
    () => {
      const [lake, depth] = [name(), number(40, 400)];
      return {
        passage: `Lake ${lake} reaches a depth of ${depth} metres at its northern end.`,
        claim: `Lake ${lake} is up to ${depth} metres deep.`,
        lies: [
          { kind: "figure", claim: `Lake ${lake} is up to ${depth + number(20, 90)} metres deep.` },
          { kind: "unit", claim: `Lake ${lake} is up to ${depth} kilometres deep.` },
          { kind: "subtle", claim: `Lake ${lake} is up to ${depth} metres deep at its southern end.` },
        ],
      };
    },
    () => {
      const [firm, year] = [name(), number(1850, 1990)];
      return {
        passage: `The company ${firm} was founded in ${year} by two engineers.`,
        claim: `The company ${firm} was founded in ${year}.`,
        lies: [
          { kind: "date", claim: `The company ${firm} was founded in ${year + number(3, 30)}.` },
          { kind: "subtle", claim: `The company ${firm} was founded in ${year} by two lawyers.` },
        ],
      };
    },
    () => {
      const town = name();
      return {
        passage: `The town of ${town} does not charge vehicles that enter its centre.`,
        claim: `The town of ${town} does not charge vehicles in its centre.`,
        lies: [
          { kind: "negation", claim: `The town of ${town} charges vehicles in its centre.` },
          { kind: "subtle", claim: `The town of ${town} does not charge electric vehicles in its centre.` },
        ],
      };
    },
    () => {
      const [firm, town, year] = [name(), name(), number(2026, 2035)];
      return {
        passage: `The company ${firm} plans to close its plant in ${town} in ${year}.`,
        claim: `The company ${firm} plans to close its ${town} plant in ${year}.`,
        lies: [
          { kind: "date", claim: `The company ${firm} plans to close its ${town} plant in ${year + number(2, 9)}.` },
          { kind: "subtle", claim: `The company ${firm} has decided against its ${town} plant of ${year}.` },
        ],
      };
    },
    () => {
      const [one, other, price, year] = [name(), name(), number(20, 900), number(1995, 2025)];
      return {
        passage: `In ${year} ${one} bought its rival ${other} for ${price} million euros.`,
        claim: `${one} took over ${other} for ${price} million euros in ${year}.`,
        lies: [
          {
            kind: "figure",
            claim: `${one} took over ${other} for ${price + number(30, 200)} million euros in ${year}.`,
          },
          { kind: "subtle", claim: `${other} took over ${one} for ${price} million euros in ${year}.` },
        ],
      };
    },
    () => {
      const [town, from, more] = [name(), number(5, 30), number(3, 20)];
      return {
        passage: `The share of commuters by bicycle in ${town} rose from ${from} % to ${from + more} % within a decade.`,
        claim: `In ${town} the share of bicycle commuters rose from ${from} % to ${from + more} % in ten years.`,
        lies: [
          {
            kind: "direction",
            claim: `In ${town} the share of bicycle commuters fell from ${from + more} % to ${from} %.`,
          },
          {
            kind: "figure",
            claim: `In ${town} the share of bicycle commuters rose from ${from} % to ${from + more + 11} %.`,
          },
          { kind: "subtle", claim: `In ${town} the share of all commuters rose from ${from} % to ${from + more} %.` },
        ],
      };
    },
    () => {
      const [land, share] = [name(), number(12, 80)];
      return {
        passage: `In rural districts of ${land}, ${share} % of households heat with wood.`,
        claim: `In rural ${land} ${share} % of households heat with wood.`,
        lies: [
          { kind: "figure", claim: `In rural ${land} ${share + number(5, 15)} % of households heat with wood.` },
          { kind: "subtle", claim: `In all of ${land} ${share} % of households heat with wood.` },
        ],
      };
    },
  ];
}
