/** Questions that a report itself leaves open, to be asked next: those in its sections on limits and open points. */

/** Of headings, as reports write them. */
const ENGLISH =
  /\b(?:open (?:question|point|issue)|unresolved|unanswered|disputed|contested|unknown|uncertain|limitation|caveat|gap|further (?:research|question)|future (?:research|work)|next question)/i;
const GERMAN = /\b(?:offene|grenzen|unsicher)/i;
const HEADING = /^H[1-6]$/;
const MAX_POINTS = 3;
const MIN_CHARACTERS = 15;
const MAX_CHARACTERS = 160;

/** A block of the report: a heading, a list item or a paragraph, with the name of its element. */
export interface Block {
  name: string;
  text: string;
  /** Of a list item: the words in bold at its beginning. */
  label?: string | undefined;
}

export function openPoints(blocks: readonly Block[]): string[] {
  const questions: string[] = [];
  const topics: string[] = [];
  let heading = "";
  for (const block of blocks) {
    if (HEADING.test(block.name)) heading = block.text;
    if (HEADING.test(block.name) || !(ENGLISH.test(heading) || GERMAN.test(heading))) continue;
    const asked = questionsIn(block.text);
    questions.push(...asked);
    if (asked.length === 0 && ENGLISH.test(heading)) topics.push(...topicIn(block));
  }
  return [...new Set([...questions, ...topics])].slice(0, MAX_POINTS);
}

const MAX_TOPIC_WORDS = 8;
/** Words with which a statement begins, and no topic. */
const STATEMENT = /^(?:no|not|none|we|it|this|these|that|there|only|few|most|many|some|all|limited|lack|missing)\b/i;

/** An item that only names its topic, asked about in words that need no grammar of the topic. */
function topicIn({ name, text, label = text }: Block): string[] {
  if (name !== "LI") return [];
  const topic = withoutCitations(label).trim().replace(/[:.]$/, "");
  const words = topic.split(" ").length;
  const isTopic = words > 1 && words <= MAX_TOPIC_WORDS && !/[.:;!?]/.test(topic) && !STATEMENT.test(topic);
  return isTopic && isShowable(topic) ? [`${topic}: what is known?`] : [];
}

const withoutCitations = (text: string): string => text.replaceAll(/\s*\[[\d, ]+\]/g, "");

const questionsIn = (text: string): string[] =>
  withoutCitations(text)
    .split(/(?<=[.?!])\s+/)
    .filter((sentence) => sentence.endsWith("?") && isShowable(sentence));

const isShowable = ({ length }: string): boolean => length >= MIN_CHARACTERS && length <= MAX_CHARACTERS;

export const blocksOf = (text: Element): Block[] =>
  [...text.querySelectorAll("h1, h2, h3, h4, h5, h6, li, p")].map((element) => ({
    name: element.tagName,
    text: textOf(element),
    label: labelOf(element),
  }));

const textOf = ({ textContent }: Element): string => (textContent ?? "").replaceAll(/\s+/g, " ").trim();

function labelOf(element: Element): string | undefined {
  const bold = element.querySelector(":scope > strong:first-child, :scope > p:first-child > strong:first-child");
  return bold !== null && textOf(element).startsWith(textOf(bold)) ? textOf(bold) : undefined;
}
