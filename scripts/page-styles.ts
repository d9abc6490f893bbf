/** The page's style sheet: one file of all in src/web/page/styles, in the order of their names but for the tokens. */

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
      const source = [FIRST, ...names.toSorted()].map((name) => smaller(readFileSync(join(STYLES, name), "utf8")));
      this.emitFile({ type: "asset", fileName: "page.css", source: source.join("\n") });
    },
  };
}

/** Comments and indentation are most of what can be saved. */
const smaller = (css: string): string =>
  css
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\s*\n\s*/g, "\n")
    .trim();
