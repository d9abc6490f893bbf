/** Faults that a scenario can request on any route. */

export const FAULTS = [
  /** A complete answer with another success status. */
  "http-201",
  "http-202",
  "http-400",
  "http-401",
  "http-403",
  "http-404",
  "http-408",
  "http-409",
  "http-413",
  /** Node's fetch repeats a request on its own after this status. */
  "http-421",
  "http-429",
  "http-429-retry-after",
  "http-500",
  "http-502",
  "http-503",
  /** From a gateway, so not in Google's error format. */
  "http-503-gateway",
  "http-504",
  "reset-before",
  "reset-mid-body",
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
