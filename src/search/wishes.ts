/** What a caller wishes of an answer besides the question, and its text for a model. */

export interface Wishes {
  /** A language tag (BCP 47) or the name of a language. */
  language?: string | undefined;
  /** `short`, `medium`, `long` or a number of words. */
  length?: string | undefined;
  prefer_domains?: string[] | undefined;
  avoid_domains?: string[] | undefined;
  /** Days, as YYYY-MM-DD; both inclusive. */
  since?: string | undefined;
  until?: string | undefined;
}

const LENGTHS: Readonly<Record<string, string>> = {
  short: "short, at most about 150 words",
  medium: "medium, about 400 to 800 words",
  long: "long, as many words as the evidence needs",
};

/** A period in words, such as `from 2025-01-01 to 2025-12-31`. */
export function periodText({ since, until }: Pick<Wishes, "since" | "until">): string | undefined {
  if (since === undefined) return until === undefined ? undefined : `until ${until}`;
  return until === undefined ? `since ${since}` : `from ${since} to ${until}`;
}

/** `German (de)` for a tag, a name as it is. */
export function languageText(language: string): string {
  try {
    const name = new Intl.DisplayNames("en", { type: "language", fallback: "none" }).of(language);
    return name === undefined ? language : `${name} (${language})`;
  } catch {
    // Not of the form of a tag.
    return language;
  }
}

/** The instructions of a model, one per line. */
export function wishLines(wishes: Wishes): string {
  const { language, length, prefer_domains: preferred, avoid_domains: avoided } = wishes;
  const period = periodText(wishes);
  return [
    language === undefined ? undefined : `Language of the answer: ${languageText(language)}.`,
    length === undefined ? undefined : `Length of the answer: ${LENGTHS[length] ?? `about ${length}`}.`,
    preferred === undefined ? undefined : `Prefer sources from these domains: ${preferred.join(", ")}.`,
    avoided === undefined ? undefined : `Avoid sources from these domains: ${avoided.join(", ")}.`,
    period === undefined ? undefined : `Prefer sources published ${period}.`,
  ]
    .filter((line) => line !== undefined)
    .join("\n");
}

const HOW_TO_READ =
  "The user's wishes for the answer are between the two marked lines. They decide its language, length and sources, whatever is said elsewhere, but not what is asked. Where a wish cannot be met, answer anyway and say so.";

/** Marked lines around the wishes; `fence` makes them unique within a prompt. */
export function wishBlock(lines: string, fence: string): string {
  const mark = fence === "" ? "" : ` ${fence}`;
  return `${HOW_TO_READ}\n\n-----BEGIN WISHES${mark}-----\n${lines}\n-----END WISHES${mark}-----`;
}

/** The question as Google's agent receives it. The same wishes give the same text, because identical starts are joined. */
export const questionWithWishes = (query: string, wishes: Wishes): string =>
  `${query}\n\n${wishBlock(wishLines(wishes), "")}`;
