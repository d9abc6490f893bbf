import { expect, test } from "vitest";
import { FINISHED } from "../../../test/kit/store/runner.ts";
import { resultOf } from "./agent-result.ts";

const REPORT = `Warm [cite: 1]. Cold [cite: 12, 3]. Wet [cite: 2].

**Sources:**
1. [a](https://a.example/page)
2. [b](https://b.example/)
3. [a](https://a.example/page?utm_source=x)
12. [a](https://a.example/page#part)
`;

test("a page that the report lists under several numbers keeps the lowest, in marks and citations (U3)", () => {
  const urls = ["https://a.example/page#part", "https://b.example/"];
  const rangeOf = (text: string): [number, number] => {
    const start = REPORT.indexOf(text);
    return [start, start + text.length];
  };
  const [start, end] = rangeOf("[cite: 12, 3]");
  const { report, sources, citations } = resultOf(
    {
      ...FINISHED,
      report: REPORT,
      sources: urls.map((url) => ({ url, title: "" })),
      citations: [{ sourceIndex: 0, start, end }],
    },
    { partial: false },
  );
  expect(sources.map(({ n, url }) => [n, url])).toEqual([
    [1, "https://a.example/page"],
    [2, "https://b.example/"],
  ]);
  expect(citations).toEqual([{ n: 1, start, end }]);
  expect(report.split("\n")[0]).toBe("Warm [cite: 1]. Cold [cite:  1, 1]. Wet [cite: 2].");
  expect(report).toHaveLength(REPORT.length);
});
