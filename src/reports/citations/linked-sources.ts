/** Extracts the sources of a report from its links. */

/** `[title](url)`, `<url>`, or a bare URL; a closing bracket is not part of the URL. */
const LINK = /\[([^\]\n]{1,300})\]\((https?:\/\/[^\s)<>]{1,2000})\)|(?<![(\w])(https?:\/\/[^\s()<>[\]"'`|]{1,2000})/g;
/** Link texts that are not a title: a number, a citation mark or a URL. */
const NOT_A_TITLE = /^(?:\d+|cite:.*|https?:\/\/.*)$/;
const TRAILING_PUNCTUATION = /[.,;:!?*_]+$/;
const MAX_LINKED_SOURCES = 1_000;

/** Used for reports without annotations, which may still link dozens of pages. */
export function linkedSources(report: string): { url: string; title: string }[] {
  const found = new Map<string, string>();
  for (const [, name = "", linked, bare = ""] of report.matchAll(LINK)) {
    const url = linked ?? bare.replace(TRAILING_PUNCTUATION, "");
    if (!URL.canParse(url)) continue;
    const title = NOT_A_TITLE.test(name) ? "" : name;
    if (!found.get(url)) found.set(url, title);
    if (found.size >= MAX_LINKED_SOURCES) break;
  }
  return [...found].map(([url, title]) => ({ url, title }));
}
