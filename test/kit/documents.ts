/** The documents for users, and the commands in their code blocks as a shell would split them. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

export const readDocument = (file: string): string => readFileSync(join(ROOT, file), "utf8");

/** README and the pages of docs/, without those for engineers. */
export const USER_DOCUMENTS = [
  "README.md",
  ...readdirSync(join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

export interface DocumentedCommand {
  file: string;
  /** As it stands in the document. */
  line: string;
  /** The program and its arguments, without variables, redirections and the other commands of a pipe. */
  words: string[];
}

const CODE_BLOCK = /^ *```(\w*)\n([\s\S]*?)^ *```$/gm;

/** Of blocks for a shell every line, of recorded sessions those after the prompt. */
export function documentedCommands(file: string): DocumentedCommand[] {
  return [...readDocument(file).matchAll(CODE_BLOCK)].flatMap(([, language = "", block = ""]) => {
    const lines = block.split("\n").map((line) => line.trim());
    const typed =
      language === "sh"
        ? lines.filter((line) => line !== "")
        : lines.filter((line) => line.startsWith("$ ")).map((line) => line.slice(2));
    return typed.flatMap((line) =>
      simpleCommands(line).flatMap((words) => (words.length === 0 ? [] : [{ file, line, words }])),
    );
  });
}

const SUBSTITUTION = /\$\(([^)]*)\)/g;
const TOKEN = /\s+|#.*$|&&|\|\||[|;]|[<>]+\s*\S+|(?:"[^"]*"|'[^']*'|[^\s"'|;&<>])+/g;

/** The simple commands of a line, then those of `$(…)`. */
function simpleCommands(line: string): string[][] {
  const commands: string[][] = [[]];
  for (const [token] of line.matchAll(TOKEN)) {
    const isVariable = commands.at(-1)?.length === 0 && /^\w+=/.test(token);
    if (/^(?:&&|\|\||[|;])$/.test(token)) commands.push([]);
    else if (!isVariable && !/^[\s#<>]/.test(token)) commands.at(-1)?.push(unquoted(token));
  }
  return [...commands, ...[...line.matchAll(SUBSTITUTION)].flatMap(([, inner = ""]) => simpleCommands(inner))];
}

const unquoted = (token: string): string => token.replaceAll(/"([^"]*)"|'([^']*)'/g, (_all, one, two) => one ?? two);
