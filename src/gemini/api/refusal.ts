/** Error messages for rejected generateContent requests whose HTTP status alone would be misleading. */

import { AppError } from "../../errors.ts";
import { httpStatusOf } from "../failures.ts";

/** Undefined if the status is enough. Google's text is only classified, never quoted. */
export function knownRefusal(error: unknown, model: string): AppError | undefined {
  if (httpStatusOf(error) !== 400 || !(error instanceof Error)) return undefined;
  if (/location is not supported/i.test(error.message)) {
    return new AppError({
      code: "GEMINI_UNAVAILABLE",
      message: "Google does not offer the Gemini API at this server's location.",
      suggestion:
        "Run the server where the Gemini API is available, reach Google through a proxy there (HTTPS_PROXY), or use Vertex AI.",
      reason: "config",
      cause: error,
    });
  }
  if (/only supports? (?:the )?Interactions API/i.test(error.message)) {
    return new AppError({
      code: "EXECUTION_ERROR",
      message: `The model ${model} cannot search: Google serves it through the Interactions API only.`,
      suggestion:
        "Unset GEMINI_MODEL or set it to a current Gemini model; use Deep Research agents with start_deep_research.",
      reason: "config",
      cause: error,
    });
  }
  return undefined;
}
