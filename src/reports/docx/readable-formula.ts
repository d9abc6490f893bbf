/** A formula in MathML as plain text, where nothing can set it: `E = mc²`, `(a + b)/2`, `√(n)`. */

import { Parser } from "htmlparser2";

interface Element {
  name: string;
  /** The text of each child. */
  children: string[];
}

type Write = (children: string[]) => string;

const WRITERS: Readonly<Record<string, Write>> = {
  mfrac: ([above = "", below = ""]) => `${grouped(above)}/${grouped(below)}`,
  msup: ([base = "", above = ""]) => `${base}${raised(above)}`,
  msub: ([base = "", below = ""]) => `${base}${lowered(below)}`,
  msubsup: ([base = "", below = "", above = ""]) => `${base}${lowered(below)}${raised(above)}`,
  munder: ([base = "", below = ""]) => `${base}${lowered(below)}`,
  mover: ([base = "", above = ""]) => `${base}${above.trim()}`,
  munderover: ([base = "", below = "", above = ""]) => `${base}${lowered(below)}${raised(above)}`,
  msqrt: (children) => `√(${children.join("").trim()})`,
  mroot: ([base = "", degree = ""]) => `${grouped(base)}^(1/${degree.trim()})`,
  mtable: (rows) => rows.map((row) => row.trim()).join("; "),
  mtr: (cells) => cells.join(" "),
  mspace: () => " ",
  mo: (texts) => operator(texts.join("")),
  annotation: () => "",
};

export function readableFormula(mathml: string): string {
  const open: Element[] = [{ name: "", children: [] }];
  const parser = new Parser(
    {
      onopentag: (name) => void open.push({ name, children: [] }),
      ontext: (text) => void open.at(-1)?.children.push(text),
      onclosetag: () => {
        const { name, children } = open.pop() ?? { name: "", children: [] };
        open.at(-1)?.children.push((WRITERS[name] ?? joined)(children));
      },
    },
    { xmlMode: true },
  );
  parser.end(mathml);
  return joined(open[0]?.children ?? [])
    .replaceAll(/[\u2061-\u2064]/g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/([([]) | (?=[)\],])/g, "$1")
    .trim();
}

const joined: Write = (children) => children.join("");

/** Between two operands; a sign before the first one stays with it. */
const operator = (text: string): string => (/^[=<>≤≥≈≠≡∼→⇒∝+−±×⋅·∈]$/.test(text) ? ` ${text} ` : text);

function grouped(text: string): string {
  const plain = text.trim();
  return /^[\p{L}\p{M}\p{N}.,]*$/u.test(plain) ? plain : `(${plain})`;
}

const RAISED = { digits: "0123456789+−n", forms: "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", mark: "^" };
const LOWERED = { digits: "0123456789+−", forms: "₀₁₂₃₄₅₆₇₈₉₊₋", mark: "_" };

const raised = (text: string): string => shifted(text, RAISED);
const lowered = (text: string): string => shifted(text, LOWERED);

function shifted(text: string, { digits, forms, mark }: typeof RAISED): string {
  const plain = text.replaceAll(/\s/g, "");
  if (plain === "") return "";
  if (plain === "∘" && mark === "^") return "°";
  const known = Array.from(plain, (character) => digits.indexOf(character));
  return known.includes(-1) ? `${mark}${grouped(text)}` : known.map((at) => forms[at]).join("");
}
