/** The stored text of a run whose draft was longer than its report. */

import { expect, test } from "vitest";
import type { Picture } from "../../reports/pictures/picture.ts";
import type { NewResult } from "../run.ts";
import { withLongestText } from "./poll-result-store.ts";

const picture = (hash: string, offset = 0): Picture => ({
  n: 1,
  mimeType: "image/png",
  width: 1,
  height: 1,
  byteLength: 1,
  hash,
  offset,
  content: new Uint8Array(1),
});

const result = (report: string, more: Partial<NewResult> = {}): NewResult => ({
  report,
  sources: [],
  metadata: {},
  partial: false,
  ...more,
});

test("a draft whose parts are all in the new answer is not stored a second time (S1)", () => {
  const draft = result("The plan.\n\nThe report.", { partial: true });
  const next = result("The report.", { metadata: { earlier_outputs: ["The plan."] } });
  expect(withLongestText(draft, next).metadata).toEqual({ earlier_outputs: ["The plan."] });
  const other = result("A draft of which nothing came.", { partial: true });
  expect(withLongestText(other, next).metadata).toEqual({ earlier_outputs: ["The plan.", other.report] });
});

test("pictures of a longer draft are kept at the end of the report, each once (S2)", () => {
  const draft = result("A much longer draft.", { partial: true, pictures: [picture("both"), picture("draft", 7)] });
  const next = result("Čaj.", { pictures: [picture("both", 2)] });
  expect(withLongestText(draft, next).pictures).toMatchObject([
    { n: 1, hash: "both", offset: 2 },
    { n: 2, hash: "draft", offset: 4 },
  ]);
  const ended = withLongestText(draft, { ...next, partial: true, pictures: [picture("late")] });
  expect(ended.pictures?.map(({ hash }) => hash)).toEqual(["both", "draft", "late"]);
});
