/** The scripts that the page loads before anything is visible: its entry and what that imports statically. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

export function initialScripts(directory: string, entry = "page.js"): string[] {
  const found = new Set([entry]);
  for (const name of found) {
    const code = readFileSync(join(directory, name), "utf8");
    for (const [, imported = ""] of code.matchAll(/(?:\bfrom|\bimport) ?"\.\/([\w.-]+\.js)"/g)) found.add(imported);
  }
  return [...found];
}
