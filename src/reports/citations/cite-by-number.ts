/** Links in a report to its own sources, written as their numbers: an address is long and stands in the list already. */

import { MARK, numbersIn } from "./positions.ts";
import { definedAddresses, definitionIn } from "./meant-numbers.ts";
import { isCodeCertain, outsideCode } from "../markdown/outside-code.ts";
import { listedSources, withoutContradictions, withoutOwnList } from "./own-source-list.ts";
import { pageKey } from "../page-key.ts";
import type { Source } from "../report.ts";

const ADDRESS = String.raw`https?:\/\/[^\s()<>[\]]{1,2000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?`;
const LINK = String.raw`\[([^[\]]+)\]\((${ADDRESS})\)`;

/**
 * `([title](address))`, `[title](address)`, `<address>`; an image is none of them. A number after a bracket, or before a
 * bracket or colon, would be read as part of a link or as a definition.
 */
const CITATION = new RegExp(String.raw`(?<![\]\\])(?:\(${LINK}\)|(?<!!)${LINK}|<(${ADDRESS})>)(?![(\[:])`, "g");

export interface CitedReport {
  report: string;
  sources: Source[];
}

/**
 * In the result a number in brackets outside of code is that of a source, whatever the report counted by before. A
 * label that was the only thing to name a page becomes the title of its source.
 */
export function citeByNumber(report: string, sources: readonly Source[]): CitedReport {
  // A number of the report's own that could not be rewritten would look like one of ours.
  if (!isCodeCertain(report)) return { report, sources: [...sources] };
  const byPage = new Map(sources.map((source) => [pageKey(source.url), source]));
  const titles = new Map<number, string>();
  const numberOf = (address: string, label: string): number | undefined => {
    const source = byPage.get(pageKey(address));
    if (source !== undefined && isUntitled(source) && isTitle(label)) titles.set(source.n, label.trim());
    return source?.n;
  };
  const explicit = withoutOwnList(withExplicitMarks(report, new Set(sources.map(({ n }) => n))), sources);
  // A definition that is left, because it may be code, would say what one of our numbers means.
  if (definedAddresses(explicit).size > 0) return { report, sources: [...sources] };
  const text = outsideCode(explicit, (prose) => {
    if (!prose.includes("://")) return prose;
    return prose.replaceAll(
      CITATION,
      (whole, aside?: string, asideUrl?: string, label?: string, url?: string, bare?: string) => {
        const n = numberOf(asideUrl ?? url ?? bare ?? "", aside ?? label ?? "");
        if (n === undefined) return whole;
        // In running text the label is part of the sentence.
        return label === undefined || !isTitle(label) ? `[${n}]` : `${label} [${n}]`;
      },
    );
  });
  return {
    report: text,
    sources: sources.map((source) => ({ ...source, title: titles.get(source.n) ?? source.title })),
  };
}

const REFERENCE = /(?<![!\\])\[([^[\]]+)\]\[(\d{1,4})\]/g;
const OWN_MARK = new RegExp(String.raw`(?<![!\\\w])${MARK}(?!\()`, "gi");

/** The report's own numbers as links to what they mean; one that nothing explains is escaped where ours could be meant. */
function withExplicitMarks(report: string, taken: ReadonlySet<number>): string {
  const defined = definedAddresses(report);
  const addresses = new Map(withoutContradictions(listedSources(report)).map(({ n, url }) => [n, url]));
  const linked = (label: string, url: string): string => `[${label}](${url.replaceAll(/[()]/g, encodeURIComponent)})`;
  return outsideCode(report, (prose) => {
    if (!prose.includes("[")) return prose;
    if (definitionIn(prose) !== undefined) return "";
    const text = prose.replaceAll(REFERENCE, (whole, label: string, n: string) => {
      const url = defined.get(Number(n));
      return url === undefined ? whole : linked(label, url);
    });
    return text.replaceAll(OWN_MARK, (mark, googles: string | undefined, list: string) => {
      const numbers = numbersIn(list);
      const urls = numbers.map((n) => (googles === undefined ? defined.get(n) : undefined) ?? addresses.get(n));
      const isExplained = urls.some((url) => url !== undefined);
      if (!isExplained && googles !== undefined) return mark;
      if (!isExplained) return numbers.some((n) => taken.has(n)) ? String.raw`\[${list}\]` : mark;
      return numbers
        .map((n, index) => (urls[index] === undefined ? String.raw`\[${n}\]` : linked(String(n), urls[index])))
        .join(" ");
    });
  });
}

const isUntitled = ({ title, domain }: Source): boolean => title === "" || title === domain;

/** Not an address, a domain or a number of the model's own. */
const isTitle = (label: string): boolean =>
  /\p{L}{2}/u.test(label) && !/^(?:https?:\/\/|[\w-]+(?:\.[\w-]+)+\/?\S*$)/.test(label);
