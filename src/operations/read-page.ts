/**
 * `read_page`: the text of one web page, through the reader of cited pages. Nothing is stored; a long page is kept in
 * memory until its last piece.
 */

import { z } from "zod";
import { AppError } from "../errors.ts";
import { cancelled } from "../gemini/failures.ts";
import { webUrl } from "../reports/web-address.ts";
import { factLines } from "./parts/answer-text.ts";
import { defineOperation, outputSchema, wholeNumberField } from "./operation.ts";
import { fitAnswer, limitOf } from "./reading/report-reading.ts";

/** Of a piece: about 5,000 tokens, below the limit of every client. */
const MAX_PIECE = 20_000;
/** Beyond the longest text that the reader keeps of a page. */
const MAX_OFFSET = 20_000_000;
const READ_AGAIN =
  "The page was fetched again. If it has changed since the last piece, text may be missing or repeated here.";
const NO_ADDRESS = "{url} must be an http or https address without a password.";

export const readPage = defineOperation({
  name: "read_page",
  title: "Read a web page",
  description:
    "Reads one web page or PDF whose address is known: title, date and text, a long one in pieces. Private addresses and pages whose site forbids programs (robots.txt) are refused. Free, seconds, nothing is stored. To find pages, use search.",
  input: z.strictObject({
    url: z
      .string({ error: NO_ADDRESS })
      .trim()
      .refine((url) => webUrl(url) !== undefined, { error: NO_ADDRESS })
      .describe("Of the page, http or https."),
    offset: wholeNumberField("offset", { min: 0, max: MAX_OFFSET })
      .default(0)
      .describe("next_offset of the last piece."),
  }),
  output: outputSchema({
    url: z.string().describe("The address at which the text was found, after redirects."),
    title: z.string(),
    author: z.string(),
    date: z.string().describe("As the page states it."),
    text: z.string().describe("Paragraphs, list items and table cells, in reading order."),
    characters: z.number().describe("Of the whole text."),
    next_offset: z.number().describe("Present when there is more."),
    note: z.string().describe("Present when this piece may not follow the last one."),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  positional: "url",
  webText: ["text"],
  run: async (deps, { url, offset }, call) => {
    const { readPage: read, keptReadings } = await deps.verification();
    const key = `${call.owner} ${url}`;
    const kept = offset === 0 ? undefined : keptReadings.find(key);
    if (kept === undefined) call.progress("Reading the page");
    const signal = AbortSignal.any([call.signal, deps.leaving]);
    const reading =
      kept ??
      (await read(url, signal).catch((error: unknown) => {
        throw signal.aborted ? cancelled() : error;
      }));
    if (reading.outcome !== "text") {
      const { whyUnread } = await import("../verification/page-check.ts");
      throw new AppError({
        code: "EXECUTION_ERROR",
        message: `The page could not be read. ${whyUnread(reading)}`,
        suggestion: "Search for the same facts on another page.",
        details: { outcome: reading.outcome, http_status: reading.httpStatus },
      });
    }
    const { title, author, date, blocks } = reading.page;
    const whole = blocks.join("\n\n");
    const answer = fitAnswer(limitOf(call), {
      build: ({ maxCharacters }) => {
        const end = endOfPiece(
          whole,
          offset,
          Math.min(maxCharacters, call.wholeReports === true ? Infinity : MAX_PIECE),
        );
        return {
          success: true,
          url: reading.finalUrl,
          title,
          author,
          date,
          text: whole.slice(offset, end),
          characters: whole.length,
          next_offset: end < whole.length ? end : undefined,
          note: offset > 0 && kept === undefined ? READ_AGAIN : undefined,
        };
      },
      toText,
    });
    if (answer.next_offset === undefined) keptReadings.drop(key);
    else keptReadings.keep(key, reading);
    return answer;
  },
  toText,
});

interface PageAnswer extends Record<string, unknown> {
  text?: string | undefined;
  next_offset?: number | undefined;
}

function toText({ success: _success, text = "", next_offset: next, ...page }: PageAnswer): string {
  const more = next === undefined ? [] : [`There is more: read on with offset ${next}.`];
  return [factLines(page), text, ...more].join("\n\n");
}

/** At the end of a paragraph, unless that leaves less than half of a piece. */
function endOfPiece(text: string, start: number, length: number): number {
  if (text.length - start <= length) return text.length;
  const end = start + length;
  const paragraph = text.lastIndexOf("\n\n", end);
  if (paragraph > start + length / 2) return paragraph + 2;
  // Not inside a character of two code units.
  return /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end;
}
