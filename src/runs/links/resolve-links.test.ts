/** Links of stored runs are resolved once, within limits, and independently of storing the report. */

import { expect, test } from "vitest";
import { insertRun, openDatabase } from "../../../test/kit/store/store-rows.ts";
import { NO_COST } from "../../costs/actual.ts";
import { systemClock } from "../../platform/clock.ts";
import { findResult } from "../result-store.ts";
import { finishRun } from "../run-store.ts";
import { resolveRecentLinks } from "./resolve-links.ts";
import { silentLog as log } from "../../../test/kit/log.ts";

const link = (n: number): string => `https://vertexaisearch.cloud.google.com/grounding-api-redirect/${n}`;
const source = (n: number, url: string) => ({ n, title: "t", url, domain: "example.com" });

test("each redirect of a finished run is resolved once, 200 at most and 4 at a time (T-3)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "run", status: "running", lease_owner: "p" });
  const sources = [
    source(1, "https://plain.example/"),
    ...Array.from({ length: 250 }, (_, n) => source(n + 2, link(n))),
  ];
  await finishRun(db, {
    taskId: "run",
    processId: "p",
    to: "completed",
    result: { report: "Deep.", sources, metadata: {}, partial: false },
    error: undefined,
    backend: "api",
    model: "m",
    tokens: { input: 1, output: 1 },
    cost: NO_COST,
    usageFinal: true,
    now: systemClock.now(),
  });
  const asked: string[] = [];
  let open = 0;
  let widest = 0;
  const resolver = {
    resolve: async (url: string) => {
      asked.push(url);
      widest = Math.max(widest, (open += 1));
      await systemClock.sleep(1);
      open -= 1;
      return url === link(0) ? undefined : `https://example.com/${url.split("/").at(-1)}`;
    },
  };
  const deps = { db, clock: systemClock, log, resolver, leaving: new AbortController().signal };
  expect(await resolveRecentLinks(deps)).toBe(199);
  expect(await resolveRecentLinks(deps)).toBe(0);
  expect(asked).toHaveLength(200);
  expect(widest).toBe(4);
  const stored = await findResult(db, "run");
  expect(stored?.sources.slice(0, 3)).toEqual([
    source(1, "https://plain.example/"),
    source(2, link(0)),
    { ...source(3, link(1)), resolved_url: "https://example.com/1" },
  ]);
});
