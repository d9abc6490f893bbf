/** The faults that a scenario can ask for on any route. */

export const FAULTS = [
  /** Answered in full, with another status of success. */
  "http-201",
  "http-202",
  "http-400",
  "http-401",
  "http-403",
  "http-404",
  "http-408",
  "http-409",
  "http-413",
  /** Node's fetch sends a request again by itself when it is answered so. */
  "http-421",
  "http-429",
  "http-429-retry-after",
  "http-500",
  "http-502",
  "http-503",
  /** The same status from a gateway: not Google's error format. */
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

/** The forms in which the Interactions API, Google's other APIs and a gateway word an error. */
export const ERROR_FORMS = ["string", "google", "array"] as const;

export type ErrorForm = (typeof ERROR_FORMS)[number];
