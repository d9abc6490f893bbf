import { expect, test } from "vitest";
import { AppError } from "../../errors.ts";
import { readReport, type ShownReport } from "./report-reading.ts";

const result = (over: Partial<ShownReport> = {}): ShownReport => ({
  report: "# Heat\n\n## Cold\n\nText.\n\n## Warm\n\nText.\n",
  sources: [{ n: 1, title: "A", url: "https://a.example/", domain: "a.example" }],
  ...over,
});

function refusalOf(section: string): AppError | undefined {
  try {
    readReport(result(), { section, maxCharacters: 100_000 });
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

test.each(["sourcesX", "sources~", "sources~0", "sources~01", "sources~2", "sources~99", "earlier"])(
  "section %s, which does not exist, is answered like any other missing section (K3)",
  (section) => {
    const { message, suggestion, details } = refusalOf("no such section") ?? {};
    expect(details).toMatchObject({ sections: "0, 1, 2" });
    expect(refusalOf(section)).toMatchObject({ message, suggestion, details });
  },
);

test.each(["sources", "sources~1"])("section %s lists the sources (K3)", (section) => {
  const { sources } = readReport(result(), { section, maxCharacters: 100_000 });
  expect(sources).toEqual([{ n: 1, title: "A", url: "https://a.example/", domain: "a.example" }]);
});

test("long earlier outputs are cut with a note, but whole on the command line (K3)", () => {
  const long = result({ earlier_outputs: ["a".repeat(900_000), "b"] });
  const cut = readReport(long, { section: "earlier", maxCharacters: 100_000 });
  expect(cut.report).toHaveLength(800_000);
  expect(cut.note).toMatch(/not part of it\..*first 800000 of 900008 characters.*show.*--section earlier/);
  const whole = readReport(long, { section: "earlier", maxCharacters: Infinity });
  expect(whole.report).toHaveLength(900_008);
  expect(whole.note).toBe("Written before the report, and not part of it.");
  const short = result({ earlier_outputs: ["a"] });
  expect(readReport(short, { section: "earlier", maxCharacters: 100_000 })).toMatchObject({
    report: "a",
    note: whole.note,
  });
});
