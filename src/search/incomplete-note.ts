/** The note on a truncated answer; a separate file, because tools are listed without loading the search. */

import type { Cut } from "../gemini/search-backend.ts";

const CAUSES: Record<Cut, string> = {
  output_limit: "Gemini reached its output limit. Ask a narrower question to get a complete answer.",
  tool_calls: "Gemini called its search tools too often and was stopped. Ask a narrower question.",
  malformed_call: "Gemini ended it with a malformed tool call. Ask again, or set GEMINI_MODEL to another model.",
  stopped: "Google ended it early. Ask again, or set GEMINI_MODEL to another model.",
  lost: "Its end did not arrive. Ask again; check the network and the proxy if it happens often.",
  unfinished: "Gemini did not finish it. Ask again, or ask a narrower question.",
};

export const incompleteNote = (cut: Cut): string => `This text breaks off: ${CAUSES[cut]}`;
