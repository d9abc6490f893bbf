/** Reads the sources of a report from its links. */

/** `[name](address)`, `<address>`, or an address on its own; a bracket that closes it is not part of it. */
const LINK = /\[([^\]\n]{1,300})\]\((https?:\/\/[^\s)<>]{1,2000})\)|(?<![(\w])(https?:\/\/[^\s()<>[\]"'`|]{1,2000})/g;
/** A number or an address in the place of a name is none. */
const NO_TITLE = /^(?:\d+|cite:.*|https?:\/\/.*)$/;
const TRAILING = /[.,;:!?*_]+$/;
const MAX_LINKED_SOURCES = 1_000;

/** Some reports have no annotations at all, although they name dozens of pages: then their links are the sources. */
export function linkedSources(report: string): { url: string; title: string }[] {
  const found = new Map<string, string>();
  for (const [, name = "", linked, bare = ""] of report.matchAll(LINK)) {
    const url = linked ?? bare.replace(TRAILING, "");
    if (!URL.canParse(url)) continue;
    const title = NO_TITLE.test(name) ? "" : name;
    if (!found.get(url)) found.set(url, title);
    if (found.size >= MAX_LINKED_SOURCES) break;
  }
  return [...found].map(([url, title]) => ({ url, title }));
}
