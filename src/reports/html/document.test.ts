import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { EmbeddingFile } from "../report-facts.ts";
import { renderHtmlDocument } from "./document.ts";

const METADATA = {
  taskId: "3f2b8c1e-9a4d-4f6b-8e2a-1c5d7e9f0a2b",
  kind: "deep_search",
  status: "completed",
  mode: "async",
  model: undefined,
  startedAt: Date.parse("2026-11-05T04:03:02Z"),
  completedAt: Date.parse("2026-11-05T04:15:32Z"),
  tokens: { input: 250_000, output: 60_000 },
  cost: { usd: 2.0713, incomplete: false, estimated: false },
  usageFinal: true,
  verified: "yes",
  note: undefined,
  savedAt: Date.parse("2026-11-06T00:00:00Z"),
};

const REPORT =
  "# Heat pumps\n\n## One\n\nWell. [1]\n\n## Two\n\nVery. [cite: 1, 2]\n\nSources:\n1. [a](https://example.org/1?a=1&b=2)";
const MARKED = { start: REPORT.indexOf("[cite"), end: REPORT.indexOf("[cite") + 12 };

const render = (over: Partial<EmbeddingFile> = {}): Promise<string> =>
  renderHtmlDocument({
    query: "How do heat pumps do?",
    report: REPORT,
    citations: [1, 2].map((n) => ({ n, ...MARKED })),
    sources: [
      { n: 1, title: "Page <1>", url: "https://example.org/1?a=1&b=2", domain: "example.org" },
      { n: 2, title: "Page 2", url: "javascript:hit()", domain: "" },
    ],
    partial: undefined,
    endedAt: METADATA.completedAt,
    metadata: METADATA,
    ...over,
  });

const bodyOf = (document: string): string => document.slice(document.indexOf("<main>"));

test("a report is rendered as one file", async () => {
  expect(bodyOf(await render())).toMatchInlineSnapshot(`
    "<main>
    <h1>Heat pumps</h1>
    <p class="date">5 November 2026</p>
    <nav aria-labelledby="contents-title">
    <h2 id="contents-title">Contents</h2>
    <ul>
    <li class="level-2"><a href="#s-one">One</a></li>
    <li class="level-2"><a href="#s-two">Two</a></li>
    </ul>
    </nav>
    <div class="report"><h2 id="s-one">One</h2>
    <p>Well.<sup class="cite"><a id="cite-1-1" href="#source-1" aria-label="Source 1: Page &lt;1&gt;">[1]</a></sup></p>
    <h2 id="s-two">Two</h2>
    <p>Very.<sup class="cite"><a id="cite-1-2" href="#source-1" aria-label="Source 1: Page &lt;1&gt;">[1]</a></sup><sup class="cite"><a id="cite-2-1" href="#source-2" aria-label="Source 2: Page 2">[2]</a></sup></p>
    </div>
    <section class="sources" aria-labelledby="sources-title">
    <h2 id="sources-title">Sources</h2>
    <ul>
    <li id="source-1"><span class="number">[1]</span> <a href="https://example.org/1?a=1&amp;b=2" rel="noopener noreferrer nofollow" target="_blank" referrerpolicy="no-referrer">Page &lt;1&gt;</a> (example.org) <span class="address">https://example.org/1?a=1&amp;b=2</span> <span class="back">Cited 2 times <a href="#cite-1-1" aria-label="Back to citation 1 of source 1">↩1</a> <a href="#cite-1-2" aria-label="Back to citation 2 of source 1">↩2</a></span></li>
    <li id="source-2"><span class="number">[2]</span> Page 2 <span class="back">Cited once <a href="#cite-2-1" aria-label="Back to citation 1 of source 2">↩1</a></span></li>
    </ul>
    </section>
    <section class="about" aria-labelledby="about-title">
    <h2 id="about-title">About this report</h2>
    <dl class="facts">
    <div><dt>Query</dt><dd>How do heat pumps do?</dd></div>
    <div><dt>Task ID</dt><dd>3f2b8c1e-9a4d-4f6b-8e2a-1c5d7e9f0a2b</dd></div>
    <div><dt>Tool</dt><dd>deep_search</dd></div>
    <div><dt>Status</dt><dd>completed</dd></div>
    <div><dt>Mode</dt><dd>async</dd></div>
    <div><dt>Verified</dt><dd>yes</dd></div>
    <div><dt>Started</dt><dd>2026-11-05T04:03:02.000Z</dd></div>
    <div><dt>Completed</dt><dd>2026-11-05T04:15:32.000Z</dd></div>
    <div><dt>Duration</dt><dd>12.5 minutes</dd></div>
    <div><dt>Tokens</dt><dd>250,000 in, 60,000 out</dd></div>
    <div><dt>Cost</dt><dd>$2.0713 at list prices</dd></div>
    <div><dt>Sources</dt><dd>2</dd></div>
    <div><dt>Saved</dt><dd>2026-11-06T00:00:00.000Z</dd></div>
    </dl>
    </section>
    </main>
    </body>
    </html>
    "
  `);
});

test("its policy allows its own style and nothing else (T27)", async () => {
  const document = await render();
  const [, style = ""] = /<style>([^]*?)<\/style>/.exec(document) ?? [];
  const hash = createHash("sha256").update(style).digest("base64");
  expect(document).toContain(
    `<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;sha256-${hash}&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;">`,
  );
  expect(document).toContain('<meta name="referrer" content="no-referrer">');
  expect(document).not.toMatch(/<script|url\(|@import/);
});

test("a partial report is marked first of all, and metadata can be left out", async () => {
  const document = bodyOf(await render({ partial: "cancelled", metadata: undefined }));
  expect(document).toMatch(
    /^<main>\n<p class="partial"><strong>PARTIAL<\/strong>: this run ended as cancelled before its report was complete\.<\/p>\n<h1>/,
  );
  expect(document).not.toContain('<dl class="facts">');
});

test("every link within the file has a target in it", async () => {
  const document = await render();
  const ids = new Set([...document.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id));
  const targets = [...document.matchAll(/href="#([^"]*)"/g)].map(([, target]) => target);
  expect(targets.length).toBeGreaterThan(7);
  expect(targets.filter((target) => !ids.has(target))).toEqual([]);
});
