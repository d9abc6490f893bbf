/** The way to the official suite's fixtures. Only a test build has them; the product build contains none of it. */

/** Replaced when a build is made; unknown everywhere else. */
declare const CONFORMANCE: string | undefined;

const load = async () => ({
  ...(await import("./conformance/fixtures.ts")),
  ...(await import("./conformance/prompts.ts")),
  ...(await import("./conformance/resources.ts")),
});

type Fixtures = Awaited<ReturnType<typeof load>>;

let fixtures: Fixtures | undefined;

/** Before the first server is built. */
export async function loadFixtures(): Promise<void> {
  if (typeof CONFORMANCE === "string" && CONFORMANCE === "on") fixtures = await load();
}

export const conformanceFixtures = (): Fixtures | undefined => fixtures;
