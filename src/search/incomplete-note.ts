/** The note on an answer that breaks off; a file of its own because tools are listed without loading the search. */

export const INCOMPLETE_NOTE =
  "This text breaks off: Gemini reached its output limit twice. A narrower question gets a whole answer.";
