/** A host name that fails without a DNS query: a label of 64 characters is invalid. */
export const UNRESOLVABLE_HOST = `${"n".repeat(64)}.invalid`;
