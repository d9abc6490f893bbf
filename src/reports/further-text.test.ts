import { expect, test } from "vitest";
import { unzip } from "../../test/kit/unzip.ts";
import { renderDocx } from "./docx/document.ts";
import { joinSources, verdictsText } from "./further-text.ts";
import { renderHtmlDocument } from "./html/document.ts";
import { renderMarkdown } from "./markdown/markdown.ts";
import type { ReportFile } from "./report-facts.ts";
import type { Source } from "./report.ts";

const source = (n: number, site: string): Source => ({
  n,
  title: `Page of ${site}`,
  url: `https://${site}/`,
  domain: site,
});

/** What Google says about its own marks. */
const marksIn = (report: string) =>
  [...report.matchAll(/\[cite: (\d)\]/g)].map((mark) => ({
    n: Number(mark[1]),
    start: mark.index,
    end: mark.index + mark[0].length,
  }));

const ANSWER = "# Japan\n\nAs before [cite: 2], and new [cite: 1].[^a]\n\n## More\n\nText [3].\n\n[^a]: Second note.";
const REPORT = "# Lake\n\nDeep [cite: 1].[^a]\n\n[^a]: First note.";

const FOLLOWUP = {
  heading: "Follow-up: And *Japan*?",
  report: ANSWER,
  sources: [source(1, "new.example"), source(2, "one.example")],
  citations: marksIn(ANSWER),
};

function fileOf(): ReportFile {
  const sources = [source(1, "one.example"), source(4, "four.example")];
  const { listed, texts } = joinSources(sources, [FOLLOWUP]);
  const line = {
    label: "conflict",
    sentence: "It is | 5 *m*.",
    source: 4,
    note: "The page says “4”.",
    passage: "4 <m>",
  };
  return {
    query: "How deep?",
    report: REPORT,
    sources,
    citations: marksIn(REPORT),
    partial: undefined,
    endedAt: undefined,
    metadata: undefined,
    further: { listed, texts: [verdictsText([line]), ...texts] },
  };
}

test("the sources of a report and its follow-ups are one list, each page once (N8)", () => {
  const { listed, texts } = joinSources([source(1, "one.example"), source(4, "four.example")], [FOLLOWUP, FOLLOWUP]);
  expect(listed.map(({ n, domain }) => [n, domain])).toEqual([
    [1, "one.example"],
    [4, "four.example"],
    [5, "new.example"],
  ]);
  for (const { numbers } of texts)
    expect([...(numbers ?? [])]).toEqual([
      [1, 5],
      [2, 1],
    ]);
});

test("Markdown has verdicts and follow-ups after the report, cited by the numbers of one list (N8)", () => {
  const text = renderMarkdown({ ...fileOf(), includeSources: true });
  expect(text).toMatchInlineSnapshot(`
    "# Lake

    Deep \\[[1]\\].[^a]

    [^a]: First note.

    ## Checked citations

    | Verdict | Sentence | Source | What the page says |
    | --- | --- | --- | --- |
    | conflict | It is \\| 5 \\*m\\*. | \\[[4]\\] | The page says “4”. “4 &lt;m\\>” |

    ## Follow-up: And \\*Japan\\*?

    As before \\[[1]\\], and new \\[[5]\\].[^3-a]

    ### More

    Text [3].

    [^3-a]: Second note.

    ## Sources

    - \\[1\\] [Page of one.example][1] (one.example)
    - \\[4\\] [Page of four.example][4] (four.example)
    - \\[5\\] [Page of new.example][5] (new.example)

    [1]: https://one.example/
    [4]: https://four.example/
    [5]: https://new.example/
    "
  `);
});

test("HTML and Word have the same texts, with headings a level lower and their own footnotes (N8)", async () => {
  const html = await renderHtmlDocument(fileOf());
  expect(html).toMatch(
    /<h2 id="s-checked-citations">[^]*<td>conflict<\/td>\s*<td>It is \| 5 \*m\*\.<\/td>[^]*href="#source-4"/,
  );
  expect(html).toMatch(
    /<h2 id="s-follow-up-and-japan">Follow-up: And \*Japan\*\?<\/h2>\s*<p>As before<sup[^]*?#source-1"[^]*?#source-5"/,
  );
  expect(html).toContain('<h3 id="s-more">');
  expect(html).toMatch(/First note\.[^]*Second note\./);
  expect(html).not.toMatch(/Japan<\/h1>/);
  expect(html.match(/<li id="source-\d+"/g)).toHaveLength(3);
  const xml =
    unzip(await renderDocx(fileOf()))
      .get("word/document.xml")
      ?.toString() ?? "";
  const anchors = [...xml.matchAll(/w:anchor="source-(\d)"/g)].map(([, n]) => n);
  expect(anchors).toEqual(["1", "4", "1", "5"]);
  expect(xml.match(/<w:footnoteReference w:id="[12]"\/>/g)).toHaveLength(2);
  expect(xml).toMatch(/Heading1[^]*Checked citations[^]*Heading1[^]*Follow-up[^]*Heading2[^]*More/);
});

test("where nothing was checked, the file says so (N8)", () => {
  expect(verdictsText([]).report).toBe("No citation of this report has been checked.");
});
