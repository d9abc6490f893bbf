/** Chooses the extent of a test that runs in both `npm test` and `npm run test:long`. */
export const atLength = <T>({ short, long }: { short: T; long: T }): T =>
  process.env["TEST_LENGTH"] === "long" ? long : short;
