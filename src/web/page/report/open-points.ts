/** Questions that a report itself leaves open, to be asked next: those in its sections on limits and open points. */

/** Of headings, as reports write them. */
const OPEN =
  /\b(?:open (?:question|point|issue)|unresolved|unanswered|disputed|contested|unknown|uncertain|limitation|caveat|gap|further (?:research|question)|next question|offene|grenzen|unsicher)/i;
const HEADING = /^H[1-6]$/;
const MAX_POINTS = 3;
const MIN_CHARACTERS = 15;
const MAX_CHARACTERS = 160;

/** A block of the report: a heading, a list item or a paragraph, with the name of its element. */
export interface Block {
  name: string;
  text: string;
}

export function openPoints(blocks: readonly Block[]): string[] {
  const points: string[] = [];
  let isOpen = false;
  for (const { name, text } of blocks) {
    if (HEADING.test(name)) isOpen = OPEN.test(text);
    else if (isOpen) points.push(...questionsIn(text));
  }
  return [...new Set(points)].slice(0, MAX_POINTS);
}

const questionsIn = (text: string): string[] =>
  text
    .replaceAll(/\s*\[[\d, ]+\]/g, "")
    .split(/(?<=[.?!])\s+/)
    .filter((sentence) => sentence.endsWith("?") && isShowable(sentence));

const isShowable = ({ length }: string): boolean => length >= MIN_CHARACTERS && length <= MAX_CHARACTERS;

export const blocksOf = (text: Element): Block[] =>
  [...text.querySelectorAll("h1, h2, h3, h4, h5, h6, li, p")].map((element) => ({
    name: element.tagName,
    text: (element.textContent ?? "").replaceAll(/\s+/g, " ").trim(),
  }));
