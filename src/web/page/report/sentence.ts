/** The sentence or the row of a table that a citation belongs to. */

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

export interface CitedPlace {
  sentence: string | undefined;
  /** The texts of the row's cells, and which of them has the citation. */
  row?: { cells: string[]; at: number } | undefined;
}

export function citedPlace(citation: Element): CitedPlace {
  const sentence = citedSentence(citation);
  const cell = citation.closest("td, th");
  const cells = [...(cell?.closest("tr")?.cells ?? [])];
  if (cell === null || cells.length === 0) return { sentence };
  const texts = cells.map((each) => {
    const range = document.createRange();
    range.selectNodeContents(each);
    return textOf(range.cloneContents());
  });
  return { sentence, row: { cells: texts, at: cells.findIndex((each) => each === cell) } };
}

function lastSentence(text: string, language: string): string {
  const sentences = [...new Intl.Segmenter(language, { granularity: "sentence" }).segment(text)];
  return sentences.at(-1)?.segment.trim() ?? "";
}
