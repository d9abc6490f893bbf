/** Keeps backslash text such as LaTeX when JSON would read its first letter as an escape: `\frac` is no form feed. */

/** No report contains a backspace or a form feed on purpose. */
const NEVER_MEANT = "bf";

/**
 * LaTeX commands that begin like a line break, a carriage return or a tab. `\n` also ends lines, so the whole command
 * must follow, and no further letter.
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

/** Words of real languages after a line break as well ("e", "eg", "i", "u"): LaTeX only inside of a formula. */
const COMMANDS_IN_FORMULAS = new Set(["ne", "neg", "ni", "nu"]);

/** Far longer than any command; keeps the scan linear. */
const MAX_COMMAND_CHARACTERS = 24;
const MAX_FORMULA_CHARACTERS = 300;

/** For the raw text of JSON strings: such backslashes are doubled, so that a parser leaves them in place. */
export function doubleLatexBackslashes(text: string): string {
  if (!/\\[bfnrt][A-Za-z]|\\[bf]/.test(text)) return text;
  // Every escape is consumed as a pair, so that the second backslash of `\\` never counts as a first one.
  return text.replaceAll(/\\([^])/g, (escape, letter: string, at: number) =>
    isLatex(text, letter, at) ? `\\${escape}` : escape,
  );
}

function isLatex(text: string, letter: string, at: number): boolean {
  if (NEVER_MEANT.includes(letter)) return true;
  const commands = COMMANDS[letter];
  if (commands === undefined) return false;
  const word = /^[A-Za-z]+/.exec(text.slice(at + 1, at + 1 + MAX_COMMAND_CHARACTERS))?.[0] ?? "";
  return commands.has(word) || (COMMANDS_IN_FORMULAS.has(word) && isInFormula(text, at));
}

/** In its paragraph an odd number of dollar signs, or a `\(` or `\[` without its end, stands before it. */
function isInFormula(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - MAX_FORMULA_CHARACTERS), at);
  const breaks = ["\\n\\n", "\n\n"].map((mark) => before.lastIndexOf(mark));
  const paragraph = before.slice(Math.max(0, ...breaks));
  const last = (...marks: string[]): number => Math.max(...marks.map((mark) => paragraph.lastIndexOf(mark)));
  const dollars = paragraph.match(/\$/g)?.length ?? 0;
  return dollars % 2 === 1 || last("\\(", "\\[") > last("\\)", "\\]");
}

const KNOWN_ESCAPE = /^\\(?:["'\\/bfnrt]|u[0-9a-fA-F]{4})/;

/** The same, and every other backslash that JSON does not know: a repair would drop it. */
export function doubleUnknownBackslashes(text: string): string {
  return doubleLatexBackslashes(text).replaceAll(/\\(?:u[0-9a-fA-F]{4}|[^]|$)/g, (escape) =>
    KNOWN_ESCAPE.test(escape) ? escape : `\\${escape}`,
  );
}
