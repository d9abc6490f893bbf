/** Wishes for an answer: their parameters, and what an answer says about them. They are asked of the model, not enforced. */

import { z } from "zod";
import type { Source } from "../../reports/report.ts";
import { outsideDates, outsideDomains, type OutsideSources } from "../../reports/wished-sources.ts";
import { languageText, periodText, type Wishes } from "../../search/wishes.ts";

const LANGUAGE_ERROR = '{language} must be a language tag such as "de" or "pt-BR", or the name of a language.';
const LENGTH_ERROR =
  '{length} must be short, medium, long or a number of words from 20 to 20,000, such as "300 words".';
const MAX_DOMAINS = 20;

const domainsField = (name: string) =>
  z
    .array(z.string(), { error: `{${name}} must be a list of host names.` })
    .transform((entries) => entries.flatMap((entry) => entry.split(",")).map((entry) => hostOf(entry.trim())))
    .refine((hosts): hosts is string[] => hosts.every((host) => host !== undefined), {
      error: `{${name}} must be host names such as "example.org", without path or port.`,
    })
    .refine((hosts) => hosts.length <= MAX_DOMAINS, { error: `{${name}} must have at most ${MAX_DOMAINS} host names.` })
    .optional();

const dateField = (name: "since" | "until") =>
  z
    .string({ error: dateError(name) })
    .trim()
    .transform((text) => dayOf(text, name))
    .refine((day): day is string => day !== undefined, { error: dateError(name) })
    .optional();

const dateError = (name: string): string => `{${name}} must be a date: YYYY-MM-DD, YYYY-MM or YYYY.`;

/** Optional parameters of the three depths. Names and descriptions are short, because they are in three tools. */
const wishFields = {
  language: z
    .string({ error: LANGUAGE_ERROR })
    .trim()
    .transform(languageOf)
    .refine((name): name is string => name !== undefined, { error: LANGUAGE_ERROR })
    .optional()
    .describe("Language of the answer."),
  length: z
    .string({ error: LENGTH_ERROR })
    .trim()
    .transform(lengthOf)
    .refine((length): length is string => length !== undefined, { error: LENGTH_ERROR })
    .optional()
    .describe("short, medium, long or words."),
  prefer_domains: domainsField("prefer_domains").describe("Sites to prefer."),
  avoid_domains: domainsField("avoid_domains").describe("Sites to avoid."),
  since: dateField("since").describe("Sources from this date."),
  until: dateField("until").describe("Sources to this date."),
};

/** Wishes that were checked. */
const storedWishes = z.object({
  language: z.string().optional(),
  length: z.string().optional(),
  prefer_domains: z.array(z.string()).optional(),
  avoid_domains: z.array(z.string()).optional(),
  since: z.string().optional(),
  until: z.string().optional(),
});

/** An input schema with wishes that do not contradict each other. */
export const withWishes = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .strictObject({ ...shape, ...wishFields })
    .refine(onValid(isPeriod), {
      error: "{since} must not be after {until}.",
      path: ["since"],
    })
    .refine(onValid(isChoice), {
      error: "A domain cannot be both in {prefer_domains} and in {avoid_domains}.",
      path: ["avoid_domains"],
    });

/** A value that is not valid has an error of its own. */
const onValid =
  (check: (wishes: Wishes) => boolean) =>
  (input: unknown): boolean => {
    const { data } = storedWishes.safeParse(input);
    return data === undefined || check(data);
  };

const isPeriod = ({ since, until }: Wishes): boolean => since === undefined || until === undefined || since <= until;

const isChoice = ({ prefer_domains: preferred = [], avoid_domains: avoided = [] }: Wishes): boolean =>
  !preferred.some((host) => avoided.includes(host));

/** The wishes of a call without empty ones; undefined if there is none. */
export function wishesOf(input: Wishes): Wishes | undefined {
  const { language, length, prefer_domains, avoid_domains, since, until } = input;
  const given = Object.entries({ language, length, prefer_domains, avoid_domains, since, until }).filter(
    ([, value]) => value !== undefined && value.length > 0,
  );
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** The wishes that are stored with a run. */
export const wishesIn = ({ wishes }: Record<string, unknown>): Wishes | undefined =>
  wishes === undefined ? undefined : storedWishes.parse(wishes);

export const wishesSchema = z
  .looseObject({
    asked: z.looseObject({}),
    sources_outside: z.number().optional().describe("Sources outside the wished domains or dates."),
    note: z.string(),
  })
  .optional()
  .describe("What was wished for; not enforced.");

export type WishesAnswer = NonNullable<z.output<typeof wishesSchema>>;

/** What an answer says about the wishes of its run; undefined if there were none. */
export function wishesAnswer(wishes: Wishes | undefined, sources: readonly Source[]): WishesAnswer | undefined {
  if (wishes === undefined) return undefined;
  const found = [outsideDomains(sources, wishes), outsideDates(sources, wishes)].filter((each) => each !== undefined);
  const outside = new Set(found.flatMap((each) => each.outside));
  return {
    asked: { ...wishes },
    sources_outside: found.length === 0 ? undefined : outside.size,
    note: wishNote(wishes, sources),
  };
}

/** One or two sentences of our own. */
function wishNote(wishes: Wishes, sources: readonly Source[]): string {
  const { language, length, prefer_domains: preferred, avoid_domains: avoided } = wishes;
  const period = periodText(wishes);
  const asked = [
    language === undefined ? [] : [`in ${languageText(language)}`],
    length === undefined ? [] : [length],
    preferred === undefined ? [] : [`preferably from ${preferred.join(", ")}`],
    avoided === undefined ? [] : [`not from ${avoided.join(", ")}`],
    period === undefined ? [] : [`published ${period}`],
  ].flat();
  return [
    `Asked for, not enforced: ${asked.join("; ")}.`,
    ...countText(outsideDomains(sources, wishes), "outside the wished domains"),
    ...countText(outsideDates(sources, wishes), "outside the wished dates", " with a known date"),
  ].join(" ");
}

function countText(found: OutsideSources | undefined, what: string, which = ""): string[] {
  if (found === undefined) return [];
  const { known } = found;
  const { length } = found.outside;
  if (known === 0) return which === "" ? [] : ["No source has a known date."];
  return [`${length} of ${known} source${known === 1 ? "" : "s"}${which} ${length === 1 ? "is" : "are"} ${what}.`];
}

/** Metadata with the wishes as one sentence, for answers as text. */
export const withWishNote = <Metadata extends { wishes?: WishesAnswer | undefined }>({ wishes, ...rest }: Metadata) =>
  wishes === undefined ? rest : { ...rest, wishes: wishes.note };

/** What looks like a language tag (BCP 47). */
const TAG = /^[a-z]{2,3}(?:-[a-z\d]{2,8}){0,3}$/i;
/** Letters of any script, in up to four words. */
const LANGUAGE_NAME = /^[\p{L}\p{M}]+(?:[ ’'-][\p{L}\p{M}()]+){0,3}$/u;
const MAX_NAME_CHARACTERS = 40;

/** A tag in its usual form, a name as it is, undefined for anything else. */
function languageOf(text: string): string | undefined {
  if (TAG.test(text) && languageText(text) !== text) return Intl.getCanonicalLocales(text)[0];
  const isName = text.length <= MAX_NAME_CHARACTERS && LANGUAGE_NAME.test(text);
  // Two or three Latin letters are a tag that does not exist, not a name.
  return isName && !/^[a-z]{1,3}$/i.test(text) ? text : undefined;
}

function lengthOf(text: string): string | undefined {
  const word = text.toLowerCase();
  if (["short", "medium", "long"].includes(word)) return word;
  const words = Number(/^(\d{1,5})(?: ?words)?$/.exec(word)?.[1] ?? 0);
  return words >= 20 && words <= 20_000 ? `${words} words` : undefined;
}

/** In lower case and, for other scripts, in the form of the domain name system. */
function hostOf(text: string): string | undefined {
  const bare = text.replace(/^\*\./, "");
  if (bare === "" || /[\s/\\?#@:%]/.test(bare) || !URL.canParse(`https://${bare}`)) return undefined;
  const host = new URL(`https://${bare}`).hostname.replace(/^www\./, "");
  return host.length <= 253 && /^(?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)+[a-z][a-z\d-]*[a-z\d]$/.test(host)
    ? host
    : undefined;
}

/** A year or month stands for its first day in `since` and for its last in `until`. */
function dayOf(text: string, name: "since" | "until"): string | undefined {
  const [, year, month, day] = /^((?:19|20)\d\d)(?:-(\d\d)(?:-(\d\d))?)?$/.exec(text) ?? [];
  if (year === undefined) return undefined;
  const isEnd = name === "until";
  const monthOrEnd = Number(month ?? (isEnd ? 12 : 1));
  const lastDay = new Date(Date.UTC(Number(year), monthOrEnd, 0)).getUTCDate();
  const dayOrEnd = Number(day ?? (isEnd ? lastDay : 1));
  if (monthOrEnd < 1 || monthOrEnd > 12 || dayOrEnd < 1 || dayOrEnd > lastDay) return undefined;
  return `${year}-${String(monthOrEnd).padStart(2, "0")}-${String(dayOrEnd).padStart(2, "0")}`;
}
