/** The note on a truncated answer; a separate file, because tools are listed without loading the search. */

export const INCOMPLETE_NOTE =
  "This text breaks off: Gemini reached its output limit twice. Ask a narrower question to get a complete answer.";
