/** The whole corpus of malformed model answers, which was not used to develop the extractor. */

import { BRACKETS } from "./brackets.ts";
import { CLEAN_ANSWERS } from "./clean-answers.ts";
import { COMMAS } from "./commas.ts";
import type { CorpusCase } from "./corpus-case.ts";
import { CUT_AFTER_REPORT } from "./cut-after-report.ts";
import { CUT_IN_REPORT } from "./cut-in-report.ts";
import { DIALECTS } from "./dialects.ts";
import { ENCODINGS } from "./encodings.ts";
import { ENVELOPES } from "./envelopes.ts";
import { FENCES_IN_REPORTS } from "./fences-in-reports.ts";
import { NOT_AN_ANSWER } from "./not-an-answer.ts";
import { QUOTED_REFUSALS } from "./quoted-refusals.ts";
import { QUOTES } from "./quotes.ts";
import { SEVERAL_OBJECTS } from "./several-objects.ts";
import { SHAPES } from "./shapes.ts";
import { STRING_CONTENTS } from "./string-contents.ts";

export const MALFORMED_ANSWERS: readonly CorpusCase[] = [
  ...CLEAN_ANSWERS,
  ...FENCES_IN_REPORTS,
  ...CUT_AFTER_REPORT,
  ...CUT_IN_REPORT,
  ...BRACKETS,
  ...COMMAS,
  ...QUOTES,
  ...STRING_CONTENTS,
  ...DIALECTS,
  ...ENCODINGS,
  ...ENVELOPES,
  ...SEVERAL_OBJECTS,
  ...SHAPES,
  ...NOT_AN_ANSWER,
  ...QUOTED_REFUSALS,
];
