/** Upper limit for the rounds of a deep search, for the setting and the parameter. */

export const MAX_ROUNDS = 20;
