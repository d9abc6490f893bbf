/**
 * Allow-list for formulas: presentation elements of MathML and attributes without URLs, scripts or styles. Elements that
 * can contain HTML (`annotation-xml`) or change how it is parsed (`mglyph`, `malignmark`) are not among them.
 */

const TOKENS = ["mi", "mn", "mo", "mtext", "mspace"];
const LAYOUT = ["mrow", "mfrac", "msqrt", "mroot", "mstyle", "mpadded", "mphantom", "menclose"];
const SCRIPTS = ["msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts"];
const TABLES = ["mtable", "mtr", "mtd"];

export const MATHML_TAGS: readonly string[] = ["math", ...TOKENS, ...LAYOUT, ...SCRIPTS, ...TABLES];

const BOOLEAN = /^(?:true|false)$/;
const LENGTH = /^[+-]?\d{0,3}(?:\.\d{1,4})?(?:em|ex|px|pt|mu|%)?$/;
/** Not negative, and no `voffset`: a formula stays where it is in the text. */
const SPACE = /^\+?\d{0,3}(?:\.\d{1,4})?(?:em|ex|px|pt|mu|%)?$/;

/** Alignment and lines, for which the style sheets have rules. */
const CLASS = /^tml-(?:left|right|jot|overline|underline)$/;

const EVERYWHERE = { class: CLASS, displaystyle: BOOLEAN, scriptlevel: /^[+-]?\d$/, mathvariant: /^normal$/ };

const OWN: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  math: { display: /^(?:block|inline)$/ },
  mo: {
    stretchy: BOOLEAN,
    fence: BOOLEAN,
    separator: BOOLEAN,
    symmetric: BOOLEAN,
    largeop: BOOLEAN,
    movablelimits: BOOLEAN,
    accent: BOOLEAN,
    form: /^(?:prefix|infix|postfix)$/,
    lspace: SPACE,
    rspace: LENGTH,
    minsize: LENGTH,
    maxsize: LENGTH,
  },
  mspace: { width: LENGTH, height: LENGTH, depth: LENGTH },
  mpadded: { width: LENGTH, height: LENGTH, depth: LENGTH, lspace: SPACE },
  mfrac: { linethickness: LENGTH },
  mover: { accent: BOOLEAN },
  munder: { accentunder: BOOLEAN },
  munderover: { accent: BOOLEAN, accentunder: BOOLEAN },
  menclose: { notation: /^[a-z ]{1,60}$/ },
};

export const MATHML_ATTRIBUTES: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = Object.fromEntries(
  MATHML_TAGS.map((tag) => [tag, { ...EVERYWHERE, ...OWN[tag] }]),
);
