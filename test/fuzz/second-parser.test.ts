/**
 * What GitHub's dialect of Markdown makes of a saved report. Unlike the parser of the fuzz target it links bare
 * addresses, and takes more for a part of them than others do.
 */

import fc from "fast-check";
import { parse, postprocess, preprocess } from "micromark";
import { gfm } from "micromark-extension-gfm";
import { expect, test } from "vitest";
import { cleanText } from "../../src/platform/clean-text.ts";
import { renderMarkdown } from "../../src/reports/markdown/markdown.ts";
import { inputsFor } from "./inputs.ts";
import { markdownReport, plain, SOURCES } from "./markdown-report.ts";

const HARMLESS_TAG = /^<\/?(?:br|sup|sub|kbd)[ \t]*\/?>\s*$/i;
const SHOWN = new Set(["image", "htmlText", "htmlFlow"]);
const ADDRESSES = new Set([
  "resourceDestinationString",
  "definitionDestinationString",
  "autolinkProtocol",
  "literalAutolinkHttp",
  "literalAutolinkWww",
]);

/** Everything that loads something, shows raw HTML or leads elsewhere. */
function foundIn(document: string, known: string): string[] {
  const events = postprocess(
    parse({ extensions: [gfm()] })
      .document()
      .write(preprocess()(document, "utf8", true)),
  );
  return events.flatMap(([kind, token, context]) => {
    if (kind === "exit" || !(SHOWN.has(token.type) || ADDRESSES.has(token.type))) return [];
    const text = context.sliceSerialize(token);
    const isKnown = plain(known).includes(plain(text).replaceAll("&lt;", "<"));
    return (ADDRESSES.has(token.type) && isKnown) || (token.type !== "image" && HARMLESS_TAG.test(text)) ? [] : [text];
  });
}

test("a saved report shows no picture, no HTML and no link that the stored one does not have (N1, T20, T21)", () => {
  const check = (input: string): void => {
    const report = cleanText(input);
    const document = renderMarkdown({
      query: "q",
      report,
      sources: SOURCES,
      partial: undefined,
      metadata: undefined,
      includeSources: true,
    });
    expect(foundIn(document, `${report} https://a.example/%28x%29`), document).toEqual([]);
  };
  for (const seed of markdownReport.seeds) check(seed);
  fc.assert(fc.property(inputsFor(markdownReport), check), { numRuns: 1_000, seed: 20_261_118 });
});
