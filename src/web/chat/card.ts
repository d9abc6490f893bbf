/** The run card on the server: its document, one HTML file with everything inline, and the operations that only it calls. */

import { readFile } from "node:fs/promises";
import type { Operation } from "../../operations/operation.ts";
import { viewReport } from "./view-report.ts";
import { viewRun } from "./view-run.ts";

/** Relative to the bundle, which is in `dist/` or in `dist-failpoints/`. */
const FILE = new URL("../dist/card/card.html", import.meta.url);

export const readCardDocument = (): Promise<string> => readFile(FILE, "utf8");

export const CARD_OPERATIONS: readonly Operation[] = [viewRun, viewReport];
