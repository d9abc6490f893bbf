/** A host name that no resolver is asked about: a label of 64 characters is refused before any packet is sent. */
export const UNRESOLVABLE_HOST = `${"n".repeat(64)}.invalid`;
