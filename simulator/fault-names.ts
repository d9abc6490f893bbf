/** Faults that a scenario can request on any route. */

import { ERROR_NAMES } from "./google-errors.ts";

export const FAULTS = [
  ...ERROR_NAMES,
  /** A complete answer with another success status. */
  "http-201",
  "http-202",
  /** Node's fetch repeats a request on its own after this status. */
  "http-421",
  "http-502",
  /** From a gateway, so not in Google's error format. */
  "http-503-gateway",
  "reset-before",
  "reset-mid-body",
  /** The connection is closed before the announced length, or the end of a compressed body, was sent. */
  "short-body",
  "short-gzip",
  "hang",
  "html-200",
  "empty-200",
  "malformed-json",
  "invalid-json",
  "wrong-json",
  "slow-drip",
  "slowloris",
  "gzip-bomb",
  "redirect",
] as const;

export type Fault = (typeof FAULTS)[number];

/** Error formats of the Interactions API, Google's other APIs and a gateway. */
export const ERROR_FORMS = ["string", "google", "array"] as const;

export type ErrorForm = (typeof ERROR_FORMS)[number];
