/**
 * Another program that writes a client's file at the worst moment: `init` has compared it and starts to write its
 * replacement beside it. Loaded before the program with `node --import`.
 */

import fs, { writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join } from "node:path";

/** `.settings.json.<uuid>.tmp`, beside `settings.json`. */
const REPLACEMENT = /^\.(?<name>.+)\.[0-9a-f-]{36}\.tmp$/;
const { writeFile } = fs.promises;
const written = new Set<string>();

fs.promises.writeFile = (path, ...more) => {
  const name = REPLACEMENT.exec(basename(String(path)))?.groups?.["name"] ?? "";
  if (name !== "" && !written.has(name)) {
    written.add(name);
    writeFileSync(join(dirname(String(path)), name), '{"written": "meanwhile"}');
  }
  return writeFile(path, ...more);
};
syncBuiltinESMExports();
