/** The bound on the rounds of a deep search, by setting or parameter. */

export const MAX_ROUNDS = 20;
