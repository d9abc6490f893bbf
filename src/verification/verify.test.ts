/** Citations are checked page by page, within limits; what was found is stored with the run and with no other. */

import { expect, test } from "vitest";
import { createTestLog, silentLog as log } from "../../test/kit/log.ts";
import { HOUR_MS, LINK, NOW, openRun, openWorld, PAGES, pairs, REPORT } from "../../test/kit/store/cited-run.ts";
import { RedirectUnreachable } from "../gemini/redirect-links.ts";
import { systemClock } from "../platform/clock.ts";
import { deleteRun } from "../runs/deletion/deletion-store.ts";
import { findResult, saveResult } from "../runs/result-store.ts";
import { checkFinishedRuns } from "./automatic-checks.ts";
import { claimsOfRun } from "./claims-of-run.ts";
import { findEvidence, findPageChecks, saveEvidence } from "./evidence-store.ts";
import { splitClaims } from "../claims/split-claims.ts";
import { countsOf, standings } from "./standing.ts";
import { readCitations, verdictRows } from "./read-citations.ts";
import { type Verification, verifyCitations, type VerifyDeps } from "./verify.ts";

test("each cited page is fetched, compared, and stored with verdict, receipt and reason; links at Google are resolved first (W2, W3)", async () => {
  const db = await openRun();
  const { verify, fetched } = openWorld(db);
  expect(await verify()).toBe(0);
  expect(fetched.toSorted()).toEqual(Object.keys(PAGES).toSorted());
  expect(await pairs(db)).toEqual(["1 confirmed", "2 not_found", "3 gone", "4 unreadable"]);
  const checks = await findPageChecks(db, "run");
  expect(checks.get(1)).toMatchObject({
    outcome: "text",
    httpStatus: 200,
    hash: "ab".repeat(32),
    date: "2024-03-01",
    author: "A. Writer",
    checkedAt: NOW,
  });
  expect(checks.get(3)).toMatchObject({ outcome: "gone", reason: "The page was removed.", httpStatus: 410 });
  expect(checks.get(4)).toMatchObject({ outcome: "unreadable", reason: "The page is behind a paywall." });
  // The target stays known after Google's link has expired.
  const stored = await findResult(db, "run");
  expect(stored?.sources[3]).toMatchObject({ url: LINK, resolved_url: "https://d.example/bridge" });
  expect(stored?.report).toBe(REPORT);
  const evidence = await findEvidence(db, "run");
  expect(evidence.find(({ source }) => source === 1)?.passage).toContain("42 metres");
});

test("what was checked is a table: a row for each sentence and source, the worst first (W2)", async () => {
  const db = await openRun();
  const { deps, verify } = openWorld(db);
  const result = await findResult(db, "run");
  if (result === undefined) throw new Error("There is no report.");
  const read = () => readCitations(deps, { taskId: "run", result });
  expect(verdictRows(await read())).toEqual([]);
  await verify();
  const rows = verdictRows(await read());
  expect(rows.map(({ label, source }) => `${label} ${source}`)).toEqual([
    "gone 3",
    "not found 2",
    "unreadable 4",
    "confirmed 1",
  ]);
  expect(rows.at(-1)).toMatchObject({
    verdict: "confirmed",
    sentence: "Lake Onda is 42 metres deep.",
    note: "",
    passage: expect.stringContaining("42 metres"),
  });
  expect(rows[0]?.note).toBe("The page was removed.");
});

test("a redirect link that cannot be reached is checked again soon, not taken for an expired one (W3)", async () => {
  const db = await openRun();
  const { deps, verify, later, fetched } = openWorld(db);
  const { resolver } = deps;
  deps.resolver = { resolve: () => Promise.reject(new RedirectUnreachable()) };
  await verify({ numbers: [4] });
  const check = (await findPageChecks(db, "run")).get(4);
  expect(check).toMatchObject({ outcome: "unreachable", reason: expect.stringContaining("Check the network") });
  deps.resolver = resolver;
  later(HOUR_MS);
  await verify({ numbers: [4] });
  expect(fetched).toEqual(["https://d.example/bridge"]);
});

test("claims name their sources, uncited ones none, and Google's annotations are evidence without a request (W1, W2)", async () => {
  const db = await openRun();
  const { deps, fetched } = openWorld(db);
  const result = await findResult(db, "run");
  if (result === undefined) throw new Error("There is no report.");
  const { claims } = await claimsOfRun(deps, { taskId: "run", result });
  expect(claims.map(({ sources }) => sources)).toEqual([[1], [2], [3], [4], []]);
  expect(claims.map(({ googleSources }) => googleSources)).toEqual([[1], [], [], [], []]);
  expect(fetched).toEqual([]);
  const counts = countsOf(standings(claims, []));
  expect(counts).toEqual({ claims: 5, uncited: 0, not_checked: 4 });
  // Stored once: numbers of claims keep their meaning.
  expect(await claimsOfRun(deps, { taskId: "run", result })).toMatchObject({ claims });
});

test("a cited cell or a labelled value of one word is not among what can be checked (W2, W3)", () => {
  const sources = [{ n: 1, title: "Pumps", url: "https://a.example/", domain: "a.example" }];
  const mark = "[pumps](https://a.example/)";
  const report = `| Pump | Safe | Price |\n|---|---|---|\n| X1 | Yes ${mark} | 5 EUR ${mark} |\n\n- Status: Approved (${mark})`;
  const found = standings(
    splitClaims({ report: report.replaceAll(` ${mark} |`, " [^1] |") + `\n\n[^1]: https://a.example/`, sources }),
    [],
  );
  expect(found.map(({ claim }) => claim.text)).toEqual(["5 EUR"]);
});

test("Google's grounding supports are stored with a result and tie its claims to sources (W1)", async () => {
  const db = await openRun();
  const { deps } = openWorld(db);
  const result = await findResult(db, "run");
  if (result === undefined) throw new Error("There is no report.");
  // As in an answer in JSON, where the report is escaped.
  const supports = [
    { text: String.raw`The ferry to Onda\nwas discontinued in 1987`, urls: ["https://c.example/ferry"] },
    { text: "Nothing of the kind is said.", urls: ["https://c.example/ferry"] },
  ];
  const saved = { ...result, pictures: [], supports };
  await db
    .transaction()
    .execute((transaction) => saveResult(transaction, { taskId: "run", query: "q", result: saved, now: NOW }));
  const stored = await findResult(db, "run");
  expect(stored?.supports).toEqual(supports);
  const { claims } = await claimsOfRun(deps, { taskId: "run", result: stored ?? result });
  expect(claims.map(({ googleSources }) => googleSources)).toEqual([[1], [], [3], [], []]);
});

test("a check goes on where it stopped, and fetches recent pages only again if asked (W3)", async () => {
  const db = await openRun();
  const { verify, fetched, later } = openWorld(db);
  expect(await verify({ maxPages: 3 })).toBe(1);
  expect(await verify()).toBe(0);
  expect(fetched).toHaveLength(4);
  expect(await verify()).toBe(0);
  expect(fetched).toHaveLength(4);
  await verify({ numbers: [1], again: true });
  expect(fetched.slice(4)).toEqual(["https://a.example/lake"]);
  later(25 * HOUR_MS);
  await verify();
  expect(fetched).toHaveLength(9);
  expect(await pairs(db)).toHaveLength(4);
});

test("a page that cannot be read again keeps its evidence until it is read or gone (W3)", async () => {
  const db = await openRun();
  const { deps, verify, pages, later, fetched } = openWorld(db);
  await verify();
  const { ["https://a.example/lake"]: lake = {} } = pages;
  const [before] = await findEvidence(db, "run");
  const unread = [
    { outcome: "unreachable", reason: "No answer." },
    { outcome: "unreadable", wall: "captcha" },
  ] as const;
  for (const page of unread) {
    pages["https://a.example/lake"] = page;
    later(HOUR_MS);
    await verify({ numbers: [1], again: true });
    expect((await findPageChecks(db, "run")).get(1)?.outcome).toBe(page.outcome);
    expect((await findEvidence(db, "run"))[0]).toEqual(before);
  }
  // A claim that its former text left open does not make it due on every call.
  delete pages["https://b.example/village"];
  await verify({ numbers: [2], again: true });
  deps.judge = { canJudge: () => true, judge: () => Promise.reject(new Error("It was not to be asked.")) };
  const count = fetched.length;
  await verify({ numbers: [2] });
  expect(fetched).toHaveLength(count);
  pages["https://a.example/lake"] = { outcome: "gone", reason: "It was removed.", httpStatus: 410 };
  await verify({ numbers: [1], again: true });
  expect(await pairs(db)).toContain("1 gone");
  pages["https://a.example/lake"] = lake;
  await verify({ numbers: [1], again: true });
  expect(await pairs(db)).toContain("1 confirmed");
});

test("a cancelled check keeps what it has found, and time limits end it (W3)", async () => {
  const db = await openRun();
  const { verify } = openWorld(db, { slow: true });
  const stopped = new AbortController();
  const checking = verify({ signal: stopped.signal, onProgress: (done) => done > 0 && stopped.abort() });
  await expect(checking).rejects.toThrow();
  // Which page is stored first depends on the database.
  expect([["1 confirmed"], ["3 gone"]]).toContainEqual(await pairs(db));
  expect(await verify({ maxMs: -1, again: true })).toBe(4);
});

test("evidence belongs to one run, follows its report and is deleted with it (W3, T-5)", async () => {
  const db = await openRun();
  await openRun("other", db);
  const { verify } = openWorld(db);
  await verify();
  expect(await pairs(db, "other")).toEqual([]);
  await saveEvidence(db, "run", {
    kind: "read",
    evidence: [{ claim: 2, source: 2, kind: "read", verdict: "conflict", passage: "It has 290." }],
    now: NOW,
  });
  expect(await pairs(db)).toHaveLength(5);
  const result = await findResult(db, "run");
  if (result === undefined) throw new Error("There is no report.");
  // A report that arrives late has other claims.
  const late = { ...result, report: "The lake is frozen ([lake](https://a.example/lake))." };
  const { claims } = await claimsOfRun({ db, log }, { taskId: "run", result: late });
  expect(claims).toHaveLength(1);
  expect(await pairs(db)).toEqual([]);
  await verify();
  expect(await deleteRun(db, { taskIds: ["run"], now: NOW + 1 })).toBe(true);
  for (const table of ["research_results", "research_pages", "research_evidence"] as const) {
    expect(await db.selectFrom(table).select("task_id").where("task_id", "=", "run").execute()).toEqual([]);
  }
  // A check that was in progress while the run was deleted stores nothing and does not fail.
  await expect(claimsOfRun({ db, log }, { taskId: "run", result })).resolves.toBeDefined();
});

test("damaged claims are split anew (W1)", async () => {
  const db = await openRun();
  const lines: string[] = [];
  const { verify } = openWorld(db);
  await verify();
  await db.updateTable("research_results").set({ claims_json: "{" }).execute();
  const result = await findResult(db, "run");
  if (result === undefined) throw new Error("There is no report.");
  const deps = { db, log: createTestLog((line) => lines.push(line)) };
  expect((await claimsOfRun(deps, { taskId: "run", result })).claims).toHaveLength(5);
  expect(lines).toEqual([]);
});

test("with VERIFY_CITATIONS=auto each finished report is checked once, without a judge; others only on request (T-3, W3)", async () => {
  const db = await openRun();
  const { deps, fetched } = openWorld(db);
  const leaving = new AbortController().signal;
  const verification = async () => deps;
  expect(fetched).toEqual([]);
  expect(await checkFinishedRuns({ verification, leaving })).toBe(1);
  expect(fetched).toHaveLength(4);
  expect(await checkFinishedRuns({ verification, leaving })).toBe(0);
  expect(await pairs(db)).toContain("1 confirmed");
});

test("a failure ends the other pages before it is thrown (W3)", async () => {
  const db = await openRun();
  const { deps } = openWorld(db);
  const result = await findResult(db, "run");
  if (result === undefined) throw new Error("There is no report.");
  let [started, ended] = [0, 0];
  const othersStarted = Promise.withResolvers<void>();
  const failing: VerifyDeps = {
    ...deps,
    readPage: async (url, signal) => {
      if (url.startsWith("https://a.")) {
        await othersStarted.promise;
        throw new Error("The database is gone.");
      }
      started += 1;
      if (started === 3) othersStarted.resolve();
      await systemClock.sleep(60_000, signal).finally(() => (ended += 1));
      return deps.readPage(url, signal);
    },
  };
  const limits = { again: false, maxPages: 100, maxMs: 60_000, signal: new AbortController().signal };
  const wanted: Verification = { taskId: "run", result, ...limits, onProgress: () => {} };
  await expect(verifyCitations(failing, wanted)).rejects.toThrow("The database is gone.");
  expect(ended).toBe(3);
});
