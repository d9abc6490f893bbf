/** The scripts that the browser loads before it shows the first view: the entry of the page and what it imports. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const STATIC_IMPORT = /(?:\bfrom|\bimport)\s*["']\.\/([\w-]+\.js)["']/g;

/** Compressed. */
export function firstScripts(directory: string): Buffer[] {
  const files = new Set(["page.js"]);
  // A set also visits what is added during the loop.
  for (const file of files) {
    for (const [, imported = ""] of read(directory, file).matchAll(STATIC_IMPORT)) files.add(imported);
  }
  return [...files].map((file) => gzipSync(read(directory, file)));
}

const read = (directory: string, file: string): string => readFileSync(join(directory, file), "utf8");
