/** The page in a real browser: size, time until the list is visible, and the effect of many runs. */

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { enterPage, openPage, startBrowser } from "../test/kit/browser/browser.ts";
import { firstScripts } from "../test/kit/browser/first-scripts.ts";
import { type RunningHttpServer, startHttpServer } from "../test/kit/server/http-server.ts";
import { ROOT, TEST_KEY } from "../test/kit/server/server.ts";
import { fillWithRuns } from "./million-runs.ts";
import { busyShare, coldLoad, holds, type Load, readRows, scrollDown } from "./page-measure.ts";
import type { Table } from "./report.ts";
import { forkSimulator } from "./simulator-process.ts";
import { median, ratiosOf, withSpread } from "./statistics.ts";
import { withWorkspace } from "./workspace.ts";

const SIZES = [200, 2_000, 20_000];
const LOADS = 7;
const SEARCHES = 7;
const LIVE_RUNS = 50;
const LIVE_MS = 20_000;

/** Budgets: what a visitor waits for before anything is visible. */
const MAX_SCRIPT_KB = 30;
const MAX_FIRST_PAINT = 2.5;

const BARE = "<!doctype html><html lang=en><title>bare</title><body><p class=there>A page with nothing on it.</p>";

export const page = (): Promise<Table> => withWorkspace(measure);

async function measure(directory: string): Promise<Table> {
  const simulator = await forkSimulator();
  const browser = await startBrowser();
  try {
    const rows: Row[] = [...weights()];
    for (const runs of SIZES) rows.push(...(await measureSize(browser, { directory, runs, gemini: simulator.url })));
    await simulator.setScenario({ name: "long", interactions: { speed: 10, duration_ms: 3_600_000 } });
    rows.push(...(await measureLive(browser, { directory, gemini: simulator.url })));
    return {
      title: "The dashboard",
      columns: ["what", "figure", "budget"],
      rows: rows.map(({ what, figure, budget }) => [what, figure, budget === undefined ? "" : verdict(budget)]),
      notes: [
        `Loads are the median of ${LOADS}, each without a cache, alternating with a bare static page in the same browser; ratios with quartiles. The list shows 100 runs at a time.`,
      ],
      passed: rows.every(({ budget }) => budget?.met !== false),
    };
  } finally {
    await browser.close();
    await simulator.close();
  }
}

interface Row {
  what: string;
  figure: string;
  budget?: { limit: string; met: boolean } | undefined;
}

const verdict = ({ limit, met }: { limit: string; met: boolean }): string => `${limit}, ${met ? "met" : "**missed**"}`;

function weights(): Row[] {
  const directory = join(ROOT, "dist/page");
  const kb = (bytes: number): string => `${(bytes / 1_024).toFixed(1)} KB`;
  const weighed = readdirSync(directory).map((file) => {
    const bytes = readFileSync(join(directory, file));
    return { file, bytes, compressed: gzipSync(bytes).length };
  });
  const files = weighed.map(({ file, bytes, compressed }): Row => ({
    what: `\`${file.replace(/-[\w-]{8}\.js$/, ".js")}\``,
    figure: `${kb(bytes.length)}, ${kb(compressed)} compressed`,
  }));
  const first = firstScripts(directory).reduce((sum, { length }) => sum + length, 0);
  return [
    ...files,
    {
      what: "scripts before the first view",
      figure: `${kb(first)} compressed`,
      budget: { limit: `≤ ${MAX_SCRIPT_KB} KB compressed`, met: first <= MAX_SCRIPT_KB * 1_024 },
    },
  ];
}

interface SizeContext {
  directory: string;
  runs: number;
  gemini: string;
}

async function measureSize(browser: Browser, { directory, runs, gemini }: SizeContext): Promise<Row[]> {
  const server = await serveWith({ directory: join(directory, `runs-${runs}`), runs, gemini });
  const bare = createServer((_request, response) => response.setHeader("content-type", "text/html").end(BARE));
  await new Promise<void>((resolve) => bare.listen(0, "127.0.0.1", resolve));
  const address = bare.address();
  const bareUrl = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`;
  try {
    const [ours, theirs]: [Load[], Load[]] = [[], []];
    let requests = 0;
    for (let turn = 0; turn < LOADS; turn += 1) {
      const plain = await openPage(browser, bareUrl);
      theirs.push(await coldLoad(plain.page, { url: bareUrl, selector: ".there" }));
      await plain.page.context().close();
      const opened = await enterPage(browser, server);
      requests = 0;
      opened.page.on("request", () => (requests += 1));
      ours.push(await coldLoad(opened.page, { url: `${server.url}/`, selector: ".run-link" }));
      await opened.page.context().close();
    }
    return [...loadRows(runs, { ours, theirs, requests }), ...(await useRows(browser, server, runs))];
  } finally {
    bare.close();
    await server.close();
  }
}

function loadRows(runs: number, { ours, theirs, requests }: { ours: Load[]; theirs: Load[]; requests: number }): Row[] {
  const of = (loads: Load[], key: keyof Load): number[] => loads.map((one) => one[key]);
  const row = (what: string, key: keyof Load, limit?: number): Row => {
    const ratio = ratiosOf(of(ours, key), of(theirs, key));
    return {
      what: name(runs, what),
      figure: `${median(of(ours, key)).toFixed(0)} ms, ${withSpread(ratio, 1)} × bare`,
      budget: limit === undefined ? undefined : { limit: `≤ ${limit} × bare`, met: ratio.median <= limit },
    };
  };
  return [
    ...(runs === SIZES[0]
      ? [{ what: "requests until the list is shown, its stream included", figure: `${requests}` }]
      : []),
    row("first paint", "firstPaintMs", MAX_FIRST_PAINT),
    row("first contentful paint", "firstContentMs"),
    row("list shown", "shownMs"),
  ];
}

const name = (runs: number, what: string): string => `${runs.toLocaleString("en")} runs: ${what}`;

async function useRows(browser: Browser, server: RunningHttpServer, runs: number): Promise<Row[]> {
  const { page: opened } = await enterPage(browser, server);
  await opened.locator(".run-link").first().waitFor();
  const { nodes, heapMb } = await holds(opened);
  const { frames, late, longestTaskMs } = await scrollDown(opened);
  const thousand = await readRows(opened, 1_000);
  const after = await holds(opened);
  const searches: number[] = [];
  for (let turn = 0; turn < SEARCHES; turn += 1) {
    const begun = performance.now();
    await (await server.request("/api/runs?text=field+studies&limit=50")).text();
    searches.push(performance.now() - begun);
  }
  await opened.context().close();
  const longest = longestTaskMs === 0 ? "no task over 50 ms" : `longest task ${longestTaskMs.toFixed(0)} ms`;
  return [
    { what: name(runs, "page holds"), figure: `${nodes} nodes, ${heapMb.toFixed(1)} MB` },
    { what: name(runs, "scrolling down"), figure: `${late} of ${frames} frames late, ${longest}` },
    ...(thousand === undefined
      ? []
      : [
          {
            what: name(runs, "1,000 rows page by page"),
            figure: `${thousand.toFixed(0)} ms, then ${after.nodes} nodes, ${after.heapMb.toFixed(1)} MB`,
          },
        ]),
    { what: name(runs, "search over all reports"), figure: `${median(searches).toFixed(0)} ms` },
  ];
}

async function serveWith({ directory, runs, gemini }: SizeContext): Promise<RunningHttpServer> {
  mkdirSync(directory, { recursive: true });
  const file = join(directory, "deep_research.db");
  if (runs > 0) {
    await fillWithRuns(file, { runs, ids: 0 });
    fillWithReports(file);
  }
  return startHttpServer({
    configDir: directory,
    env: {
      MCP_RATE_LIMIT_PER_MINUTE: "0",
      SEARCH_BACKEND: "api",
      GEMINI_API_KEY: TEST_KEY,
      GOOGLE_GEMINI_BASE_URL: gemini,
      RESEARCH_SYNC_WINDOW_MS: "0",
    },
  });
}

/** Ten kilobytes per finished run, with words that occur in nearly all or only some of them. */
function fillWithReports(file: string): void {
  const database = new DatabaseSync(file);
  const text = `# Report\n\n${"What was measured, where and when, by whom and with what. ".repeat(170)}`;
  try {
    database.exec("begin; update research_tasks set status = 'completed' where status = 'running_async'");
    database
      .prepare(
        `insert into research_search (rowid, task_id, query, report)
         select rowid, task_id, query, ? || case rowid % 20 when 0 then ' field studies ' else '' end
         from research_tasks where status = 'completed'`,
      )
      .run(text);
    database.exec(
      `insert into research_results
         (task_id, report_markdown, sources_json, citations_json, metadata_json, partial, saved_at, search_rowid)
       select task_id, 'See the index.', '[]', '[]', '{}', 0, created_at, rowid
       from research_tasks where status = 'completed'; commit`,
    );
  } finally {
    database.close();
  }
}

async function measureLive(browser: Browser, { directory, gemini }: Omit<SizeContext, "runs">): Promise<Row[]> {
  const server = await serveWith({ directory: join(directory, "live"), runs: 0, gemini });
  try {
    for (let run = 0; run < LIVE_RUNS; run += 1) {
      const body = JSON.stringify({ query: `How deep is lake number ${run}?` });
      const headers = { "content-type": "application/json" };
      await (await server.request("/api/research", { method: "POST", headers, body })).text();
    }
    const { page: opened } = await enterPage(browser, server);
    await opened
      .locator(".run-link")
      .nth(LIVE_RUNS - 1)
      .waitFor();
    const before = cpuSeconds(server);
    const share = await busyShare(opened, () => sleep(LIVE_MS));
    const served = (cpuSeconds(server) - before) / (LIVE_MS / 1_000);
    await opened.context().close();
    const percent = (value: number): string => `${(value * 100).toFixed(0)} % of a core`;
    const figure = `page ${percent(share)}, server ${percent(served)}`;
    return [{ what: `${LIVE_RUNS} runs in progress, list open`, figure }];
  } finally {
    await server.close();
  }
}

/** User and system time of the process so far. */
function cpuSeconds({ pid }: RunningHttpServer): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  const ticks = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
  return (Number(fields[11]) + Number(fields[12])) / ticks;
}
