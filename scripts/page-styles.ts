/** Builds the page's style sheet from src/web/page/styles: tokens first, then by file name. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "rolldown";

const STYLES = "src/web/page/styles";
const FIRST = "tokens.css";

export function pageStyles(): Plugin {
  return {
    name: "page-styles",
    generateBundle() {
      const names = readdirSync(STYLES).filter((name) => name.endsWith(".css") && name !== FIRST);
      const source = [FIRST, ...names.toSorted()].map((name) => minified(readFileSync(join(STYLES, name), "utf8")));
      this.emitFile({ type: "asset", fileName: "page.css", source: source.join("\n") });
    },
  };
}

/** Removes comments and indentation. */
const minified = (css: string): string =>
  css
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\s*\n\s*/g, "\n")
    .trim();
