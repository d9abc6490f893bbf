/** Protects LaTeX whose first letter JSON would read as an escape: `\frac` does not start with a form feed. */

/** A report never intentionally contains a backspace or a form feed. */
const UNLIKELY_ESCAPES = "bf";

/**
 * LaTeX commands that start like a line break, a carriage return or a tab. These escapes are common in text, so only
 * whole commands count.
 */
const COMMANDS: Record<string, ReadonlySet<string>> = {
  n: new Set(
    "nabla natural nearrow neq nequiv newcommand newline nexists ngeq ngtr nleq nless nmid nolimits nonumber not notin nparallel nprec nsim nsubseteq nsucc nsupseteq nwarrow".split(
      " ",
    ),
  ),
  t: new Set(
    "tan tanh tau tbinom text textbf textit textnormal textrm textsc textsf textsuperscript textsubscript texttt tfrac therefore theta thickapprox thicksim thinspace tilde times to top triangle triangleleft triangleq triangleright twoheadrightarrow".split(
      " ",
    ),
  ),
  r: new Set(
    "rVert rangle rbrace rbrack rceil ref rfloor rho right rightarrow rightharpoonup rightleftharpoons rightsquigarrow rm root rtimes rvert".split(
      " ",
    ),
  ),
};

/** Their rest is also a word ("e", "eg", "i", "u") that may follow a line break, so they count only in formulas. */
const COMMANDS_IN_FORMULAS = new Set(["ne", "neg", "ni", "nu"]);

/** Longer than any command; keeps the scan linear. */
const MAX_COMMAND_CHARACTERS = 24;
const MAX_FORMULA_CHARACTERS = 300;

/** Doubles such backslashes in the raw text of JSON strings, so that a parser keeps them. */
export function doubleLatexBackslashes(text: string): string {
  if (!/\\[bfnrt][A-Za-z]|\\[bf]/.test(text)) return text;
  // Every escape is consumed as a pair, so that the second backslash of `\\` never starts an escape.
  return text.replaceAll(/\\([^])/g, (escape, letter: string, at: number) =>
    isLatex(text, letter, at) ? `\\${escape}` : escape,
  );
}

function isLatex(text: string, letter: string, at: number): boolean {
  if (UNLIKELY_ESCAPES.includes(letter)) return true;
  const commands = COMMANDS[letter];
  if (commands === undefined) return false;
  const word = /^[A-Za-z]+/.exec(text.slice(at + 1, at + 1 + MAX_COMMAND_CHARACTERS))?.[0] ?? "";
  return commands.has(word) || (COMMANDS_IN_FORMULAS.has(word) && isInFormula(text, at));
}

/** Whether an odd number of dollar signs, or an unclosed `\(` or `\[`, precedes it in its paragraph. */
function isInFormula(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - MAX_FORMULA_CHARACTERS), at);
  const breaks = ["\\n\\n", "\n\n"].map((mark) => before.lastIndexOf(mark));
  const paragraph = before.slice(Math.max(0, ...breaks));
  const last = (...marks: string[]): number => Math.max(...marks.map((mark) => paragraph.lastIndexOf(mark)));
  const dollars = paragraph.match(/\$/g)?.length ?? 0;
  return dollars % 2 === 1 || last("\\(", "\\[") > last("\\)", "\\]");
}

/** Removes one layer of escaping. */
export function unescapeOnce(text: string): string {
  return doubleLatexBackslashes(text).replaceAll(
    /\\(["'\\/nrt])/g,
    (_whole, letter: string) => ONE_LAYER[letter] ?? letter,
  );
}

const ONE_LAYER: Record<string, string> = { n: "\n", r: "\r", t: "\t" };
