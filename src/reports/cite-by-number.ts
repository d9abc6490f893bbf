/** Links in a report to its own sources, written as their numbers: an address is long and stands in the list already. */

import { outsideCode } from "./outside-code.ts";
import { pageKey } from "./page-key.ts";
import type { Source } from "./report.ts";

const ADDRESS = String.raw`https?:\/\/[^\s()<>[\]]{1,2000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?`;
const LINK = String.raw`\[([^[\]]+)\]\((${ADDRESS})\)`;

/** `([title](address))`, `[title](address)`, `<address>`; an image is none of them. */
const CITATION = new RegExp(String.raw`\(${LINK}\)|(?<![!\\])${LINK}|<(${ADDRESS})>`, "g");

export interface CitedReport {
  report: string;
  sources: Source[];
}

/** A label that was the only thing to name a page becomes the title of its source. */
export function citeByNumber(report: string, sources: readonly Source[]): CitedReport {
  const byPage = new Map(sources.map((source) => [pageKey(source.url), source]));
  const titles = new Map<number, string>();
  const numberOf = (address: string, label: string): number | undefined => {
    const source = byPage.get(pageKey(address));
    if (source !== undefined && isUntitled(source) && isTitle(label)) titles.set(source.n, label.trim());
    return source?.n;
  };
  const text = outsideCode(report, (prose) => {
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

const isUntitled = ({ title, domain }: Source): boolean => title === "" || title === domain;

/** Not an address, a domain or a number of the model's own. */
const isTitle = (label: string): boolean =>
  /\p{L}{2}/u.test(label) && !/^(?:https?:\/\/|[\w-]+(?:\.[\w-]+)+\/?\S*$)/.test(label);
