/** The sentence that a citation belongs to. */

const BLOCKS = "p, li, td, th, h2, h3, h4, h5, h6, blockquote, figure";
const MAX_CHARACTERS = 280;

/** Undefined for a citation without text before it. */
export function citedSentence(citation: Element): string | undefined {
  const block = citation.closest(BLOCKS);
  if (block === null) return undefined;
  const range = document.createRange();
  range.setStart(block, 0);
  range.setEndBefore(citation.closest("sup") ?? citation);
  const before = textOf(range.cloneContents());
  const last = lastSentence(before, block.closest("[lang]")?.getAttribute("lang") ?? "en");
  if (last === "") return undefined;
  return last.length <= MAX_CHARACTERS ? last : `…${last.slice(-MAX_CHARACTERS).replace(/^\S*\s/, "")}`;
}

/** Without the numbers of other citations. */
function textOf(content: DocumentFragment): string {
  for (const mark of content.querySelectorAll("sup.cite, sup.note")) mark.remove();
  return (content.textContent ?? "").replaceAll(/\s+/g, " ").trim();
}

function lastSentence(text: string, language: string): string {
  const sentences = [...new Intl.Segmenter(language, { granularity: "sentence" }).segment(text)];
  return sentences.at(-1)?.segment.trim() ?? "";
}
