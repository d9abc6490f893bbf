/** Builds the page's style sheet from src/web/page/styles: the base first, then by file name. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "rolldown";

const STYLES = "src/web/page/styles";
const FIRST = "base.css";

export function pageStyles(): Plugin {
  return {
    name: "page-styles",
    generateBundle() {
      const names = readdirSync(STYLES).filter((name) => name.endsWith(".css") && name !== FIRST);
      const source = styles([FIRST, ...names.toSorted()].map((name) => join(STYLES, name)));
      this.emitFile({ type: "asset", fileName: "page.css", source });
    },
  };
}

/** The content of the files, without comments and indentation. */
export const styles = (files: readonly string[]): string =>
  files.map((file) => minified(readFileSync(file, "utf8"))).join("\n");

const minified = (css: string): string =>
  css
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\s*\n\s*/g, "\n")
    .trim();
