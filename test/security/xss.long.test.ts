import { describe, expect, test, type TestContext } from "vitest";
import { renderReportHtml } from "../../src/reports/html/html.ts";
import { renderHtmlDocument } from "../../src/reports/html/document.ts";
import type { Source } from "../../src/reports/report.ts";
import { browserInstalled, openBrowser } from "../kit/browser/browser.ts";
import { type Judge, type Inspected, openJudge } from "./xss-judge.ts";
import { type Payload, PAYLOADS } from "./xss-payloads.ts";

const installed = await browserInstalled();

/** The policy of the page without Trusted Types, which would stop a script before the allow-list is tested. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; font-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** Batches save time; a batch with an effect is repeated one by one. */
const BATCH = 35;

async function openTrial(context: TestContext): Promise<Judge> {
  const browser = await openBrowser(context);
  if (browser === undefined) throw new Error("Chromium is no longer installed.");
  return openJudge(context, browser);
}

type Render = (text: string) => Promise<string>;

async function culprits(
  judge: Judge,
  { render, as, policy }: { render: Render; as: "fragments" | "documents"; policy?: string },
): Promise<string[]> {
  const inspect = async (payloads: readonly Payload[]): Promise<string[]> => {
    const rendered = await Promise.all(payloads.map(({ id, text }) => render(text(judge.marksFor(id)))));
    const looked: Inspected = as === "fragments" ? { fragments: rendered } : { documents: rendered };
    return judge.inspect({ ...looked, ...(policy === undefined ? {} : { policy }) });
  };
  const found: string[] = [];
  for (let from = 0; from < PAYLOADS.length; from += BATCH) {
    const batch = PAYLOADS.slice(from, from + BATCH);
    if ((await inspect(batch)).length === 0) continue;
    for (const payload of batch) {
      const seen = await inspect([payload]);
      if (seen.length > 0) found.push(`${payload.id}, ${payload.family}: ${seen.slice(0, 3).join("; ")}`);
    }
  }
  return found;
}

const sourcesOf = (text: string): Source[] => [
  { n: 1, title: text, url: text, domain: text },
  { n: 2, title: "b", url: "https://b.example/", resolved_url: text, domain: "b.example" },
];

/** Between known citations, which an unclosed payload would affect. */
const asFragment: Render = async (text) =>
  renderReportHtml({
    report: `Claim [cite: 1]\n\n${text}\n\nClaim [2]`,
    query: text,
    sources: sourcesOf(text),
    citations: [{ n: 2, start: 18, end: 22 + (text.length % 40) }],
  }).html;

/** Inserts the payload in every position of a document. */
const asDocument: Render = (text) =>
  renderHtmlDocument({
    report: text,
    query: text,
    sources: sourcesOf(text),
    partial: text,
    metadata: {
      taskId: text,
      kind: text,
      status: text,
      mode: text,
      model: text,
      startedAt: 1,
      completedAt: 2,
      tokens: { input: 1, output: 1 },
      cost: { usd: 1, incomplete: false, estimated: false },
      usageFinal: false,
      verified: text,
      note: text,
      savedAt: 3,
    },
  });

const withoutPolicy = (document: string): string => {
  const bare = document.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, "");
  expect(bare).not.toBe(document);
  return bare;
};

/** Hundreds of documents on a busy machine. */
const LIMIT = { timeout: 240_000 };

describe.skipIf(installed === "missing")("a hostile report in a real browser", LIMIT, () => {
  test("comes in more than two hundred different payloads (T20)", () => {
    const texts = PAYLOADS.map(({ text }) => text({ run: "hit", address: "address" }));
    expect(new Set(texts).size).toBe(PAYLOADS.length);
    expect(PAYLOADS.length).toBeGreaterThanOrEqual(200);
  });

  test("is stopped by the allow-list alone, in a page without any policy (T20, T21)", async (t) => {
    expect(await culprits(await openTrial(t), { render: asFragment, as: "fragments" })).toEqual([]);
  });

  test("tries nothing at all under the page's policy (T20, T21)", async (t) => {
    const judge = await openTrial(t);
    expect(await culprits(judge, { render: asFragment, as: "fragments", policy: PAGE_POLICY })).toEqual([]);
  });

  test("does nothing as a file of its own, with its policy removed (T20, T27)", async (t) => {
    const render: Render = async (text) => withoutPolicy(await asDocument(text));
    expect(await culprits(await openTrial(t), { render, as: "documents" })).toEqual([]);
  });

  test("does nothing as a file of its own (T20, T27)", async (t) => {
    expect(await culprits(await openTrial(t), { render: asDocument, as: "documents" })).toEqual([]);
  });
});

/** Effects that the judge must detect; otherwise its silence proves nothing. */
const UNSAFE: Record<string, { fragment?: string; document?: string; seen: RegExp }> = {
  "a handler": { fragment: "<img src=x onerror=§>", seen: /payload 7 ran/ },
  "a link to a script": { fragment: "<a href=javascript:§>x</a>", seen: /payload 7 ran/ },
  "a frame with a script": {
    fragment: "<iframe srcdoc='<script>parent.§</script>'></iframe>",
    seen: /payload 7 ran/,
  },
  "an image": { fragment: "<img src=¤>", seen: /p7 was asked for/ },
  "an imported style": { fragment: "<style>@import '¤';</style>", seen: /p7 was asked for/ },
  "a form": { fragment: "<form action=¤><button>x</button></form>", seen: /p7\?? was asked for/ },
  "a page that navigates": { document: "<meta http-equiv=refresh content='0;url=¤'>", seen: /p7 was asked for/ },
  "a name that is taken": { fragment: "<a id=page>x</a>", seen: /the id page/ },
  "a link into this window": { fragment: "<a href=https://a.example/>x</a>", seen: /link to https:\/\/a\.example/ },
  "a script": { document: "<script>§</script>", seen: /payload 7 ran/ },
  "a dialog": { document: "<script>alert('here')</script>", seen: /a dialog with here/ },
  "a window": { document: "<script>open('about:blank')</script>", seen: /a window was opened/ },
  "what no routing sees": {
    document: "<script>new WebSocket('¤')</script>",
    seen: /a connection to the watched address/,
  },
};

test.skipIf(installed === "missing")("the judge notices each effect of an unsafe rendering (T20)", async (t) => {
  const judge = await openTrial(t);
  const { run, address } = judge.marksFor(7);
  const filled = (html: string): string => html.replaceAll("§", run).replaceAll("¤", address);
  for (const [name, { fragment, document, seen }] of Object.entries(UNSAFE)) {
    const found = await judge.inspect({
      fragments: fragment === undefined ? [] : [filled(fragment)],
      documents: document === undefined ? [] : [filled(document)],
    });
    expect(found.join("\n"), name).toMatch(seen);
  }
});
