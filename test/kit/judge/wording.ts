/** Constructions that are kept out of every text that people read, each with what to write instead. */

interface Pattern {
  found: RegExp;
  instead: string;
}

const PATTERNS: readonly Pattern[] = [
  { found: /\b(?:nobody|somebody|anybody|everybody|whoever)\b/i, instead: "the process, the client, the user, no one" },
  { found: /(?:^|[.:;(] ?)who\b(?!.*\?)/i, instead: "a subject: the user who …, a client that …" },
  { found: /\ball the same\b/i, instead: "anyway, still" },
  { found: /\bby (?:itself|themselves)\b/i, instead: "automatically, on its own" },
  { found: /\b(?:go|goes|going|went) on\b(?! strike)/i, instead: "continue, run" },
  {
    found: /\b(?:take|takes|took|taken|taking) (?:it |them |this |that |these )?up\b(?! to)/i,
    instead: "resume, take over, import",
  },
  { found: /\b(?:give|gives|gave|given|giving) (?:it |them |this |that )?up\b/i, instead: "abandon, stop waiting" },
  { found: /\b(?:told|tell|tells) (?:\w+ ){0,2}apart\b/i, instead: "distinguish" },
  { found: /\bas far as it came\b/i, instead: "as far as it got" },
  { found: /\b(?:answer|page|call|one) before\b(?=[.,;)]|$| (?:and|which|of|ends?)\b)/i, instead: "previous" },
  { found: /\bin all\b(?= *(?:[.,;)]|$))/i, instead: "in total" },
  { found: /\b(?:is|are|was|were) to be\b/i, instead: "must be" },
  { found: /\bresearches\b(?! (?:a|the|in|and)\b)/i, instead: "runs, research" },
  { found: /\bfrom (?:now|then|which|when|here|there) on\b/i, instead: "from …, after …" },
  {
    found: /\balso (?:when|if|after|before|in|on|at|for|to|with|without|by|under|of|while|where)\b/i,
    instead: "even, …, too",
  },
  { found: /\bany ?more\b(?! than)/i, instead: "no longer" },
  { found: /\bforeign (?!keys?\b)/i, instead: "untrusted, another program's, upstream" },
  { found: /\bis the matter\b/i, instead: "the problem" },
  {
    found:
      /\bcanceled\b|(?<![-_])\b(?:behavior|favor|honor|color|license)s?\b(?![-_=])|\b(?:recogni|summari|organi|normali|synchroni)z/i,
    instead: "British spelling",
  },
  // The formatter turns the second marker into quotations.
  { found: /^(?:<{7} |>{7} |(?:> ){6}>)/, instead: "what both sides of the merge wrote" },
];
export const wordingProblems = (text: string): string[] =>
  PATTERNS.flatMap(({ found, instead }) => {
    const match = found.exec(text);
    return match === null ? [] : [`"${match[0].trim()}" (write: ${instead})`];
  });
