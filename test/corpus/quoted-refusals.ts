/** Answers in prose that quote `"success"`: research that was paid for, neither a refusal nor the quoted answer (D2). */

import { FENCE, type CorpusCase } from "./corpus-case.ts";
import { none } from "./not-an-answer.ts";

export const QUOTED_REFUSALS: readonly CorpusCase[] = [
  none(
    "quoted-refusal",
    "quoted-words",
    String.raw`Every endpoint returns HTTP 200. If a call fails, the body has "success": false and an "error" with the reason; otherwise "result" holds the data.

Source: https://api.example/docs/errors`,
    "Research in prose about an API; no object says that nothing was found.",
  ),
  none(
    "quoted-refusal",
    "quoted-words-deep",
    "Found on three pages: the tower is 330 m high. I did not answer with `\"success\": false`, `\"verified\": false` and an `\"error\"`, because something useful was found.",
    "The words of our own prompts.",
  ),
  none(
    "quoted-refusal",
    "quoted-inline",
    String.raw`The endpoint answers {"success": false, "error": "rate_limited"} when you exceed the quota; wait a minute and send it again.`,
  ),
  none(
    "quoted-refusal",
    "quoted-inline-at-end",
    String.raw`When you exceed the quota the endpoint answers {"success": false, "error": "rate_limited"}`,
  ),
  none(
    "quoted-refusal",
    "quoted-fenced-in-text-deep",
    String.raw`# Errors of the Example API

A failed call answers with HTTP 200 and this body:

${FENCE}json
{"success": false, "error": "invalid_key"}
${FENCE}

Check the field before you read the result. Keys are revoked after ten failures (https://api.example/docs/keys).`,
  ),
  none(
    "quoted-refusal",
    "quoted-first",
    String.raw`${FENCE}json
{"success": false, "error": "invalid_key"}
${FENCE}

This is what a failed call returns. The key is invalid or was revoked; create another one.`,
  ),
  none(
    "quoted-refusal",
    "quoted-last",
    String.raw`A failed call answers with HTTP 200, so a client that only checks the status takes it for a success. The documentation names three reasons: an invalid key, a used-up quota, and maintenance on the first Sunday of a month. The body is the same in all three cases:

${FENCE}json
{"success": false, "error": "invalid_key"}
${FENCE}`,
    "Two sentences may introduce a refusal; this is more.",
  ),
  none(
    "quoted-refusal",
    "quoted-both-bodies",
    String.raw`Success:

${FENCE}json
{"success": true, "result": {"id": 7}}
${FENCE}

Failure:

${FENCE}json
{"success": false, "errors": [{"code": 10000, "message": "Authentication error"}], "messages": [], "result": null}
${FENCE}

The list of codes: https://api.example/docs/codes`,
  ),
  none(
    "quoted-refusal",
    "quoted-in-code",
    String.raw`Wrap the call:

${FENCE}js
try {
  return { success: true, report: await load() };
} catch (error) {
  return { success: false, error: error.message };
}
${FENCE}

The caller then tests one field.`,
  ),
  none(
    "quoted-refusal",
    "quoted-escaped",
    String.raw`The server logs the body as a string, "{\"success\": false, \"error\": \"quota\"}", and the client parses it twice.`,
  ),
  none(
    "quoted-refusal",
    "quoted-in-other-json",
    String.raw`{"report": "A failed call answers with HTTP 200. The documentation names three reasons: an invalid key, a used-up quota, and maintenance on the first Sunday of a month. Clients have to read the flag before they use the result.", "examples": [{"success": false, "error": "invalid_key"}]}`,
    "The answer lacks its flag; the example in it is not the answer.",
  ),
  none(
    "quoted-refusal",
    "quoted-in-damaged-report-deep",
    String.raw`${FENCE}json
{"success": true, "verified": true, "report": "A failed call returns {"success": false, "error": "quota"} with HTTP 200. Wait a minute, then send it again."}
${FENCE}`,
    "The quotes of the example are not escaped; only a correction can tell where the report ends.",
  ),
  none(
    "quoted-success",
    "quoted-success-fenced",
    String.raw`# Exports of the Example API

An export runs in the background: the first call returns a job, and the client polls it every ten seconds until the body says that the file can be fetched.

${FENCE}json
{"success": true, "result": "The export is ready."}
${FENCE}

The file is kept for seven days. A second export of the same range within an hour answers with the first one's file (https://api.example/docs/exports).`,
    "The object is the body of a call; the answer is the prose around it.",
  ),
  none(
    "quoted-success",
    "quoted-success-last",
    String.raw`Exports run in the background: POST /exports/{range} returns a job, and GET /jobs/{id} its state. The documentation names three states, and asks for a pause of ten seconds between two calls. The file is kept for seven days. The last call answers:

{"success": true, "verified": true, "result": "The export is ready.", "metadata": {}}`,
    "Braces in the addresses are part of the prose.",
  ),
  none(
    "quoted-success",
    "quoted-success-first-deep",
    String.raw`${FENCE}json
{"success": true, "verified": true, "report": "The export is ready."}
${FENCE}

This is the last of four bodies. Exports run in the background, and the client polls the job every ten seconds until the flag is set; the file is then kept for seven days. A second export of the same range within an hour answers with the first one's file.`,
  ),
  none(
    "quoted-success",
    "quoted-success-both",
    String.raw`The first call answers with a job:

{"success": true, "result": "Job 7 was accepted."}

The client then polls the job every ten seconds. The documentation asks for a pause because the limit of sixty calls a minute is shared by all keys of an account. When the file can be fetched, the body is:

{"success": true, "result": "The export is ready."}

It is kept for seven days (https://api.example/docs/exports).`,
    "Neither of two quoted bodies is the final one.",
  ),
];
