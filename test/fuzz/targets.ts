/** All fuzz targets: the parsers of untrusted text. */

import { archives } from "./archive.ts";
import { claimSplitting } from "./claim-splitting.ts";
import { cleanBoundary } from "./clean-boundary.ts";
import { cliLines } from "./cli-lines.ts";
import { configLoader } from "./config-loader.ts";
import { eventStream } from "./event-stream.ts";
import { fileNames } from "./file-names.ts";
import { htmlPage } from "./html-page.ts";
import { importedReport } from "./imported-report.ts";
import { interactionJson } from "./interaction-json.ts";
import { jsonExtraction } from "./json-extraction.ts";
import { jsonRpc } from "./json-rpc.ts";
import { markdownReport } from "./markdown-report.ts";
import { pictures } from "./pictures.ts";
import { redaction } from "./redaction.ts";
import { robotsFile } from "./robots-file.ts";
import { tableAnswer } from "./table-answer.ts";
import type { FuzzTarget } from "./target.ts";
import { toolArguments } from "./tool-arguments.ts";

/** The slowest first, so that the lab's processes end together. */
export const TARGETS: readonly FuzzTarget[] = [
  jsonExtraction,
  claimSplitting,
  tableAnswer,
  htmlPage,
  interactionJson,
  eventStream,
  cliLines,
  markdownReport,
  importedReport,
  archives,
  fileNames,
  configLoader,
  jsonRpc,
  toolArguments,
  redaction,
  cleanBoundary,
  pictures,
  robotsFile,
];
