/** Why a request to an address is not made. */

const REFUSALS = {
  address: "The address is not a valid web address.",
  scheme: "Only http and https addresses are fetched.",
  credentials: "The address contains a user name or password.",
  port: "The address names a port that is not used for web pages.",
  name: "The host name does not belong to the public Internet.",
  private: "The address leads to a private or reserved network.",
  peer: "The connection did not reach the address that was checked.",
} as const;

export type Refusal = keyof typeof REFUSALS;

/** Thrown by the guard. Its message is a sentence of this program. */
export class RefusedError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(REFUSALS[refusal]);
    this.refusal = refusal;
  }
}
