/** The operations that only the run card calls. */

import type { Operation } from "../../operations/operation.ts";
import { viewReport } from "./view-report.ts";
import { viewRun } from "./view-run.ts";

export const CARD_OPERATIONS: readonly Operation[] = [viewRun, viewReport];
