/** Recognises text that stands for a report without being one. */

/** A whole text in brackets, such as `[Your report here]`. */
const BRACKETED = /^\s*(?:<[^<>]*>|\[[^[\]]*\]|\{\{?[^{}]*\}?\})\s*$/;

/** An address in angle brackets, which Markdown shows as a link, answers a question for an address. */
const AUTOLINK = /^\s*<(?:https?:\/\/[^\s<>]+|[^\s<>@]+@[^\s<>@]+)>\s*$/i;

/** An answer in JSON is data. */
export const isBracketed = (text: string): boolean => BRACKETED.test(text) && !isJson(text) && !AUTOLINK.test(text);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const NO_WORDS = /^[\s\p{P}\p{S}]*$/u;
const PLACEHOLDER =
  /^\W*(?:string|text|report|result|markdown|placeholder|todo|tbd|n\/?a|none|null|undefined|lorem ipsum.*(?!.)|(?:your|the|full|final|complete|updated|whole|insert|write|put)\b[\w\s,'-]{0,60}\b(?:report|result|answer|here|markdown)(?:\s+(?:goes\s+)?(?:here|below))?)\W*$/iu;

export const isPlaceholder = (text: string): boolean =>
  isBracketed(text) || NO_WORDS.test(text) || PLACEHOLDER.test(text);

/** Without phrases such as "The whole report.", which a short report may consist of. */
const CERTAIN_PLACEHOLDER =
  /^\W*(?:placeholder|todo|tbd|n\/a|null|undefined|lorem ipsum.*(?!.)|(?:your|insert|write|put)\b[\w\s,'-]{0,60}\b(?:here|below))\W*$/iu;

/** For a text that was paid for as a whole and cannot be requested again: only what is beyond doubt. */
export const isCertainPlaceholder = (text: string): boolean =>
  isBracketed(text) || NO_WORDS.test(text) || CERTAIN_PLACEHOLDER.test(text);

/** Shorter repetitions may be coincidental. */
const MIN_ECHO_CHARACTERS = 30;

/** Whether a report is nothing but a part of what was sent. */
export function isEchoOf(report: string, sent: string): boolean {
  const text = normalised(report);
  return text.length >= MIN_ECHO_CHARACTERS && normalised(sent).includes(text);
}

/** Whether a report is all of what was sent. A part may be an answer: a question may quote what it lets choose from. */
export const isCertainEchoOf = (report: string, sent: string): boolean =>
  isEchoOf(report, sent) && normalised(report) === normalised(sent);

const normalised = (text: string): string =>
  text
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .toLowerCase();
