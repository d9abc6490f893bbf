/**
 * Instruments every function and branch of the product with a visit counter. Loaded before everything else (`node
 * --import`) as a module hook, because reading V8's own coverage after every input would take longer than the input.
 */

import { readFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";
import { parseAst } from "rolldown/parseAst";
import { COUNTERS, MAX_LOCATIONS } from "./counters.ts";

const INSTRUMENTED = /\/src\/[\w/-]+\.ts$/;

Reflect.set(globalThis, "__visits", COUNTERS);
let locations = 0;

registerHooks({
  load: (url, context, nextLoad) => {
    if (!INSTRUMENTED.test(url)) return nextLoad(url, context);
    const file = readFileSync(fileURLToPath(url), "utf8");
    const code = url.endsWith(".ts") ? stripTypeScriptTypes(file) : file;
    return { format: "module", source: counted(code), shortCircuit: true };
  },
});

interface Insertion {
  at: number;
  text: string;
}

function counted(code: string): string {
  const insertions: Insertion[] = [];
  visit(parseAst(code), insertions);
  let result = code;
  // From the end, so that earlier offsets stay valid; at the same offset, a later entry goes inside.
  for (const { at, text } of insertions.toSorted((a, b) => b.at - a.at)) {
    result = result.slice(0, at) + text + result.slice(at);
  }
  return result;
}

const nextCounter = (): string => `__visits[${(locations += 1) % MAX_LOCATIONS}]++`;

/** Expressions that are conditional: a counter is inserted before each. */
const DECIDED: Readonly<Record<string, readonly string[]>> = {
  ConditionalExpression: ["consequent", "alternate"],
  LogicalExpression: ["right"],
};

function visit(node: unknown, insertions: Insertion[]): void {
  if (Array.isArray(node)) {
    for (const one of node) visit(one, insertions);
    return;
  }
  if (!isNode(node)) return;
  if (node.type === "BlockStatement") insertions.push({ at: node.start + 1, text: `${nextCounter()};` });
  for (const name of DECIDED[node.type] ?? []) wrap(Reflect.get(node, name), insertions);
  if (node.type === "ArrowFunctionExpression" && Reflect.get(node, "expression") === true) {
    wrap(Reflect.get(node, "body"), insertions);
  }
  for (const inner of Object.values(node)) visit(inner, insertions);
}

function wrap(expression: unknown, insertions: Insertion[]): void {
  // A parenthesized expression keeps its parentheses outside; inserting inside would split them.
  if (!isNode(expression) || expression.type === "ParenthesizedExpression") return;
  insertions.push({ at: expression.start, text: `(${nextCounter()},` }, { at: expression.end, text: ")" });
}

interface Node {
  type: string;
  start: number;
  end: number;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && "start" in value && "end" in value;
