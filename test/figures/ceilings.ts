/** R6: the duration of a start while Google is slow to accept it, and of rendering the largest report. */

import { renderMarkdown } from "../../src/reports/markdown/markdown.ts";
import { openKillWorld } from "../kit/kills/world.ts";

/** How long Google takes to accept, in seconds: from 0 to longer than any call may wait. */
const ACCEPT_SECONDS = [0, 3, 5.5, 12, 20, 24, 24.9, 25.1, 28, 29.5, 40, 110];

export interface StartVerdict {
  took: number[];
  modes: Record<string, number>;
  /** The number of starts that Google accepted, and of runs in the store. */
  paid: number;
  known: number;
  broken: string[];
}

/** All starts run concurrently, spread over several processes. */
export async function startWithSlowGoogle({ rounds, seed }: { rounds: number; seed: number }): Promise<StartVerdict> {
  const delays = Array.from({ length: rounds }, () => ACCEPT_SECONDS).flat();
  const create = delays.map((seconds) => ({ latency_ms: seconds * 1_000 }));
  const world = await openKillWorld({
    seed,
    build: "dist",
    scenario: { name: "slow-accept", interactions: { speed: 1, create } },
    env: { RESEARCH_SYNC_WINDOW_MS: "20000" },
  });
  const verdict: StartVerdict = { took: [], modes: {}, paid: 0, known: 0, broken: [] };
  try {
    const children = Array.from({ length: ACCEPT_SECONDS.length }, () => world.begin());
    await Promise.all(children.map((child) => child.ready));
    await Promise.all(
      delays.map(async (_, n) => {
        const from = performance.now();
        const answer = await children[n % children.length]?.call("start_deep_research", {
          query: `Question ${n} on time`,
        });
        verdict.took.push(performance.now() - from);
        const mode = String(answer?.["mode"]);
        verdict.modes[mode] = (verdict.modes[mode] ?? 0) + 1;
        if (answer?.status !== "running_async") verdict.broken.push(JSON.stringify(answer));
      }),
    );
    verdict.paid = world.gemini.ledger.acceptedStarts().length;
    verdict.known = world.query("select 1 from research_tasks").length;
    return verdict;
  } finally {
    await world.close();
  }
}

const PARAGRAPH =
  "Heat pumps move more heat than the work they take, and colder air makes them work harder [cite: 3]. Field data of **two winters** shows a seasonal performance factor of 2.9 at −10 °C[^1], see [the study](https://example.org/study?id=1&page=2).\n\n| region | factor |\n|---|---|\n| north | 2.9 |\n\n- one `point`\n- another one\n\n";
const REPORT_BYTES = 200_000;

/** Returns the milliseconds for rendering each of this many documents of 200 KB with a hundred sources. */
export function renderLargest(times: number): number[] {
  const report = `# Heat pumps\n\n${PARAGRAPH.repeat(Math.ceil(REPORT_BYTES / Buffer.byteLength(PARAGRAPH)))}`;
  const sources = Array.from({ length: 100 }, (_, n) => ({
    n: n + 1,
    domain: "example.org",
    title: `Source ${n} of the winters [annotated]`,
    url: `https://example.org/${n}?q=heat%20pumps`,
  }));
  return Array.from({ length: times }, (_, n) => {
    const from = performance.now();
    renderMarkdown({
      query: `How do heat pumps perform? ${n}`,
      report,
      sources,
      partial: undefined,
      metadata: undefined,
      includeSources: true,
    });
    return performance.now() - from;
  });
}
