/**
 * Fuzz target: the name of a report is always one plain file name inside its directory, on POSIX and Windows (N2, T10).
 */

import { posix, win32 } from "node:path";
import { isInside } from "../../src/reports/files/allowed-root.ts";
import { namePart, reportFileName } from "../../src/reports/files/file-name.ts";
import { type FuzzTarget, must, mustBeVisible } from "./target.ts";

const NOW = Date.parse("2026-11-05T04:03:02.999Z");
const RESERVED = /^(?:CON|PRN|AUX|NUL|COM[0-9¹²³]|LPT[0-9¹²³]|CONIN\$|CONOUT\$)(?:\..*)?$/i;
const SYSTEMS = [
  { paths: posix, root: "/srv/out" },
  { paths: win32, root: "C:\\srv\\out" },
];

export const fileNames: FuzzTarget = {
  name: "file names",
  seeds: [
    "research",
    "../../etc/passwd",
    "C:\\x\\..\\y",
    "\\\\host\\share",
    "CON.txt",
    "a\u202Egnp",
    "Wärme_2026",
    "e\u0301",
    "..",
    "/srv/out-evil/x",
  ],
  words: [
    "../",
    "..\\",
    "C:",
    "CON",
    "nul",
    "~",
    "%2e%2e%2f",
    "\\\\?\\",
    "::$DATA",
    "\u0301",
    "-",
    ".",
    " ",
    "/srv/out",
    "C:\\srv\\out",
    "c:\\SRV\\OUT",
  ],
  open: () => ({
    check: (input) => {
      const name = reportFileName({ prefix: input, taskId: input, now: NOW }, 1);
      must(/^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_-]*_20261105_040302\.md$/u.test(name), `N2: ${name} is a plain name.`);
      must(!RESERVED.test(name) && Buffer.byteLength(name) <= 255 - 16, "N2: every file system takes it.");
      must(name === name.normalize("NFC"), "N2: it is spelled one way.");
      must(namePart(namePart(input)) === namePart(input), "N2: a name that is plain already is kept.");
      mustBeVisible(name, "the name");
      const inside = SYSTEMS.map(({ paths, root }) => {
        const file = paths.join(root, "2026-11", name);
        must(paths.basename(file) === name && isInside(root, file, paths), "T10: it stays in its directory.");
        const target = paths.resolve(root, input.replaceAll("\0", ""));
        const really = lies(root, target, paths);
        const taken = isInside(root, target, paths);
        must(really || !taken, `T10: ${JSON.stringify(target)} is not inside.`);
        // A colon after the drive names an alternate stream or is invalid, so rejecting it is right as well.
        must(taken || !really || target.slice(2).includes(":"), `T10: ${JSON.stringify(target)} is inside.`);
        return really;
      });
      return `${inside.join()} ${namePart(input) === ""} ${namePart(input) === input}`;
    },
  }),
};

/** Compares the paths component by component, independently of the product's code. */
function lies(root: string, target: string, { sep }: typeof posix): boolean {
  const spelled = (path: string): string[] =>
    (sep === "\\" ? path.toLowerCase() : path).split(sep).filter((name) => name !== "");
  const above = spelled(root);
  const names = spelled(target);
  return above.every((name, index) => names[index] === name);
}
