/** Maps a reported stack to source lines: `npx node scripts/map-stack.ts < log.txt`, in a build of the version that it names. */

import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { sourceStack } from "../src/platform/unexpected-error.ts";

const BUNDLE = `${pathToFileURL(join(import.meta.dirname, "../dist")).href}/`;

/** The bundle's path on the reporter's machine. Packages that are not bundled have their own `dist/`. */
const INSTALLED = /file:\/\/[^\s()]+\/dist\/(?=[\w.-]+\.js:)/g;
const OTHER_PACKAGE = /\/node_modules\/(?!gemini-search-mcp\/dist\/$)[^()\s]*\/dist\/$/;

const reported = await text(process.stdin);
const local = reported.replaceAll(INSTALLED, (place) => (OTHER_PACKAGE.test(place) ? place : BUNDLE));
process.stdout.write(sourceStack(local, BUNDLE));
